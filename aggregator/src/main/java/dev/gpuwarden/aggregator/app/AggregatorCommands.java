package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.command.ApproveCommand;
import dev.gpuwarden.aggregator.command.BreakerCommand;
import dev.gpuwarden.aggregator.command.CleanNodesCommand;
import dev.gpuwarden.aggregator.command.CordonCommand;
import dev.gpuwarden.aggregator.command.DrainCommand;
import dev.gpuwarden.aggregator.command.ExplainCommand;
import dev.gpuwarden.aggregator.command.FleetCommand;
import dev.gpuwarden.aggregator.command.PolicyCommand;
import dev.gpuwarden.aggregator.command.RehearseCommand;
import dev.gpuwarden.aggregator.command.ReleaseCommand;
import dev.gpuwarden.aggregator.command.VramWaitCommand;
import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.NamedCommand;
import dev.gpuwarden.cli.run.ShutdownSignal;
import java.time.Clock;
import java.util.List;

/** The cluster's commands. */
public final class AggregatorCommands implements CommandGroup {
    @Override
    public List<NamedCommand> commands() {
        return List.of(
                new NamedCommand("aggregator", () -> new AggregatorCommand(ShutdownSignal.onSignal())),
                new NamedCommand("fleet", () -> new FleetCommand(System.getenv(), Clock.systemUTC())),
                new NamedCommand("explain", () -> new ExplainCommand(System.getenv(), Clock.systemUTC())),
                new NamedCommand(
                        "rehearse",
                        () -> new RehearseCommand(System.getenv(), Clock.systemUTC(), DeployedSettings::read)),
                new NamedCommand("cordon", () -> new CordonCommand(System.getenv(), Clock.systemUTC())),
                new NamedCommand(
                        "drain", () -> new DrainCommand(System.getenv(), Clock.systemUTC(), ShutdownSignal.onSignal())),
                new NamedCommand("approve", () -> new ApproveCommand(System.getenv(), Clock.systemUTC())),
                new NamedCommand("release", () -> new ReleaseCommand(System.getenv(), Clock.systemUTC())),
                new NamedCommand("clean-nodes", () -> new CleanNodesCommand(System.getenv(), Clock.systemUTC())),
                new NamedCommand("breaker", () -> new BreakerCommand(System.getenv(), Clock.systemUTC())),
                new NamedCommand("vram", () -> VramWaitCommand.group(System.getenv(), Clock.systemUTC())),
                new NamedCommand("policy", () -> PolicyCommand.with(Clock.systemUTC())));
    }
}
