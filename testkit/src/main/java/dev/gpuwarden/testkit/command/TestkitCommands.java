package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.CommandGroup;
import dev.gpuwarden.cli.NamedCommand;
import java.util.List;

/** Commands that need no GPU. */
public final class TestkitCommands implements CommandGroup {
    @Override
    public List<NamedCommand> commands() {
        return List.of(
                new NamedCommand("sim", SimCommand::new),
                new NamedCommand("cluster", ClusterCommand::new),
                new NamedCommand("demo", DemoCommand::new));
    }
}
