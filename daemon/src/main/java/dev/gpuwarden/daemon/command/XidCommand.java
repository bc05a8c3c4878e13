package dev.gpuwarden.daemon.command;

import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Groups what there is to do with errors in the kernel log. */
@Command(
        name = "xid",
        mixinStandardHelpOptions = true,
        description = "Errors of the NVIDIA driver in logs: what they mean.",
        synopsisSubcommandLabel = "COMMAND")
public final class XidCommand {

    private XidCommand() {}

    /** The command with all of its own. */
    public static CommandLine create() {
        return new CommandLine(new XidCommand()).addSubcommand(new XidDecodeCommand(() -> System.in));
    }
}
