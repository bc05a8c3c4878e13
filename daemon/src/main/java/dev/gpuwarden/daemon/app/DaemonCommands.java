package dev.gpuwarden.daemon.app;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.ProcessSignals;
import dev.gpuwarden.core.port.Provider;
import dev.gpuwarden.daemon.command.BundleCommand;
import dev.gpuwarden.daemon.command.CheckCommand;
import dev.gpuwarden.daemon.command.DoctorCommand;
import dev.gpuwarden.daemon.command.EventsCommand;
import dev.gpuwarden.daemon.command.GpuResetCommand;
import dev.gpuwarden.daemon.command.MaintenanceGateCommand;
import dev.gpuwarden.daemon.command.ReleaseDriverCommand;
import dev.gpuwarden.daemon.command.RepairsCommand;
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
                new NamedCommand("daemon", () -> new DaemonCommand(DaemonCommands::driver)),
                new NamedCommand("status", () -> new StatusCommand(clock)),
                new NamedCommand("events", () -> EventsCommand.with(clock)),
                new NamedCommand("watch", () -> new WatchCommand(clock)),
                new NamedCommand("set-healthy", () -> new SetHealthyCommand(clock)),
                new NamedCommand("scan", () -> new ScanCommand(DaemonCommands::driver)),
                new NamedCommand("check", () -> new CheckCommand(DaemonCommands::driver)),
                new NamedCommand("doctor", () -> new DoctorCommand(DaemonCommands::driver)),
                new NamedCommand("gpu-reset", () -> new GpuResetCommand(DaemonCommands::driver)),
                new NamedCommand("bundle", BundleCommand::new),
                new NamedCommand("maintenance-gate", MaintenanceGateCommand::new),
                new NamedCommand("release-driver", ReleaseDriverCommand::new),
                new NamedCommand("repairs", () -> new RepairsCommand(clock.getZone())),
                new NamedCommand("vram", () -> VramCommand.with(DaemonCommands::driver)),
                new NamedCommand("xid", () -> XidCommand.create()));
    }

    /** Returns the command of this name, not yet run. */
    static Object command(String name) {
        return new DaemonCommands()
                .commands().stream()
                        .filter(command -> command.name().equals(name))
                        .findFirst()
                        .orElseThrow()
                        .command()
                        .get();
    }

    static ProcessSignals signals() {
        return Provider.of(ProcessSignals.class);
    }

    private static DriverProvider driver() {
        return Provider.of(DriverProvider.class);
    }
}
