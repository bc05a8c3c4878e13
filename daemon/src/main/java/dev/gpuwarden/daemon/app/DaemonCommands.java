package dev.gpuwarden.daemon.app;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.daemon.command.CheckCommand;
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
    public List<NamedCommand> commands() {
        Clock clock = Clock.systemDefaultZone();
        return List.of(
                new NamedCommand("daemon", () -> new DaemonCommand(NativeProviders::driver)),
                new NamedCommand("status", () -> new StatusCommand(clock)),
                new NamedCommand("events", () -> EventsCommand.with(clock)),
                new NamedCommand("watch", () -> new WatchCommand(clock)),
                new NamedCommand(
                        "set-healthy", () -> new SetHealthyCommand(clock, new SetHealthyCommand.Terminal())),
                new NamedCommand("scan", () -> new ScanCommand(NativeProviders::driver)),
                new NamedCommand("check", () -> new CheckCommand(NativeProviders::driver)),
                new NamedCommand("doctor", () -> new DoctorCommand(NativeProviders::driver)),
                new NamedCommand("vram", () -> VramCommand.with(NativeProviders::driver)),
                new NamedCommand("xid", () -> XidCommand.create()));
    }
}
