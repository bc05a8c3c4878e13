package dev.gpuwarden.nccl.command;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.core.port.CollectiveProvider;
import java.time.Clock;
import java.util.List;
import java.util.ServiceLoader;

/** The benchmark of collectives. */
public final class BenchCommands implements CommandGroup {

    @Override
    public List<NamedCommand> commands() {
        return List.of(new NamedCommand(
                "bench", () -> new BenchCommand(BenchCommands::provider, System.getenv(), Clock.systemDefaultZone())));
    }

    private static CollectiveProvider provider() {
        return ServiceLoader.load(CollectiveProvider.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no provider of collectives on the class path: the jar of the module native is missing"));
    }
}
