package dev.gpuwarden.daemon.app;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.daemon.command.CheckCommand;
import dev.gpuwarden.daemon.command.ClientTerminal;
import dev.gpuwarden.daemon.command.DoctorCommand;
import dev.gpuwarden.daemon.command.EventsCommand;
import dev.gpuwarden.daemon.command.ScanCommand;
import dev.gpuwarden.daemon.command.SetHealthyCommand;
import dev.gpuwarden.daemon.command.StatusCommand;
import dev.gpuwarden.daemon.command.VramCommand;
import dev.gpuwarden.daemon.command.WatchCommand;
import dev.gpuwarden.daemon.command.XidCommand;
import java.time.Clock;
import java.util.List;

/** The node's commands. */
public final class DaemonCommands implements CommandGroup {
    @Override
    public List<Object> commands() {
        Clock clock = Clock.systemDefaultZone();
        return List.of(
                new DaemonCommand(Providers::driver),
                new StatusCommand(clock),
                EventsCommand.with(clock),
                new WatchCommand(clock),
                new SetHealthyCommand(clock, new ClientTerminal(() -> System.in)),
                new ScanCommand(Providers::driver),
                new CheckCommand(Providers::driver),
                new DoctorCommand(Providers::driver),
                VramCommand.with(Providers::driver),
                XidCommand.create());
    }
}
