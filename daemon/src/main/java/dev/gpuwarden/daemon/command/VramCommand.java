package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.port.DriverProvider;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Groups the commands about GPU memory and its holders. */
@Command(
        name = "vram",
        mixinStandardHelpOptions = true,
        description = "GPU memory by holder, and the pods that have the GPUs.",
        synopsisSubcommandLabel = "COMMAND")
public final class VramCommand {

    private VramCommand() {}

    /** Returns the command with its subcommands. */
    public static CommandLine with(Supplier<DriverProvider> provider) {
        return new CommandLine(new VramCommand())
                .addSubcommand(new VramTopCommand(provider))
                .addSubcommand(new VramHoldersCommand(provider));
    }
}
