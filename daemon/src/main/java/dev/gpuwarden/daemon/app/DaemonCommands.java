package dev.gpuwarden.daemon.app;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.daemon.command.DoctorCommand;
import dev.gpuwarden.daemon.command.ScanCommand;
import dev.gpuwarden.daemon.command.VramCommand;
import java.util.List;

/** The node's commands. */
public final class DaemonCommands implements CommandGroup {
    @Override
    public List<Object> commands() {
        return List.of(
                new DaemonCommand(Providers::driver),
                new ScanCommand(Providers::driver),
                new DoctorCommand(Providers::driver),
                VramCommand.with(Providers::driver));
    }
}
