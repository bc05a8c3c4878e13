package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.port.DriverProvider;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Groups what there is to ask about GPU memory and who was given it. */
@Command(
        name = "vram",
        mixinStandardHelpOptions = true,
        description = "GPU memory: whose it is, and who was given the GPUs.",
        synopsisSubcommandLabel = "COMMAND")
public final class VramCommand {

    private VramCommand() {}

    /** The command with all of its own. */
    public static CommandLine with(Supplier<DriverProvider> provider) {
        return new CommandLine(new VramCommand())
                .addSubcommand(new VramTopCommand(provider))
                .addSubcommand(new VramHoldersCommand(provider));
    }
}
