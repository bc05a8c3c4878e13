package dev.gpuwarden.nccl.command;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.Provider;
import java.time.Clock;
import java.util.List;

/** The benchmark of collectives. */
public final class BenchCommands implements CommandGroup {

    @Override
    public List<NamedCommand> commands() {
        return List.of(new NamedCommand(
                "bench",
                () -> new BenchCommand(
                        () -> Provider.of(CollectiveProvider.class), System.getenv(), Clock.systemDefaultZone())));
    }
}
