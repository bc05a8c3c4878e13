package dev.gpuwarden.daemon.command;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Groups the commands about errors in the kernel log. */
@Command(
        name = "xid",
        mixinStandardHelpOptions = true,
        description = "Explain errors of the NVIDIA driver in logs.",
        synopsisSubcommandLabel = "COMMAND")
public final class XidCommand {

    private XidCommand() {}

    /** Returns the command with its subcommands. */
    public static CommandLine create() {
        return new CommandLine(new XidCommand()).addSubcommand(new XidDecodeCommand(() -> System.in));
    }
}
