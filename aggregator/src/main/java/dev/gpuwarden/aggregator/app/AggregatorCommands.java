package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.run.Stop;
import java.util.List;

/** The cluster's commands. */
public final class AggregatorCommands implements CommandGroup {
    @Override
    public List<Object> commands() {
        return List.of(new AggregatorCommand(Stop.onSignal()));
    }
}
