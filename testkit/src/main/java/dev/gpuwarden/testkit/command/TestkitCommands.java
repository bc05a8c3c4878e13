package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.CommandGroup;
import java.util.List;

/** Commands that need no GPU. */
public final class TestkitCommands implements CommandGroup {
    @Override
    public List<Object> commands() {
        return List.of(new SimCommand(), new ClusterCommand(), new DemoCommand());
    }
}
