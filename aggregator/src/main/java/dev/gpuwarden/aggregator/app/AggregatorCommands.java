package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.command.BreakerCommand;
import dev.gpuwarden.aggregator.command.CordonCommand;
import dev.gpuwarden.aggregator.command.DrainCommand;
import dev.gpuwarden.aggregator.command.ExplainCommand;
import dev.gpuwarden.aggregator.command.FleetCommand;
import dev.gpuwarden.aggregator.command.PolicyCommand;
import dev.gpuwarden.aggregator.command.ReleaseCommand;
import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.run.Stop;
import java.time.Clock;
import java.util.List;

/** The cluster's commands. */
public final class AggregatorCommands implements CommandGroup {
    @Override
    public List<Object> commands() {
        return List.of(
                new AggregatorCommand(Stop.onSignal()),
                new FleetCommand(System.getenv(), Clock.systemUTC()),
                new ExplainCommand(System.getenv(), Clock.systemUTC()),
                new CordonCommand(System.getenv(), Clock.systemUTC()),
                new DrainCommand(System.getenv(), Clock.systemUTC(), Stop.onSignal()),
                new ReleaseCommand(System.getenv(), Clock.systemUTC()),
                new BreakerCommand(System.getenv(), Clock.systemUTC()),
                PolicyCommand.with(Clock.systemUTC()));
    }
}
