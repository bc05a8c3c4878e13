package dev.gpuwarden.daemon.command;

import dev.gpuwarden.core.port.DriverProvider;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** Groups what there is to ask about GPU memory. */
@Command(
        name = "vram",
        mixinStandardHelpOptions = true,
        description = "GPU memory: whose it is.",
        synopsisSubcommandLabel = "COMMAND")
public final class VramCommand {

    private VramCommand() {}

    /** The command with all of its own. */
    public static CommandLine with(Supplier<DriverProvider> provider) {
        return new CommandLine(new VramCommand()).addSubcommand(new VramTopCommand(provider));
    }
}
