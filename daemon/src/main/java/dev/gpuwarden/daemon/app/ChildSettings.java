package dev.gpuwarden.daemon.app;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The options of this daemon's command line that a child gets too. It inherits the environment and reads the same file. */
final class ChildSettings {

    private static final List<String> PREFIXES = List.of(
            "--driver.",
            "--nccl.",
            "--cublas.",
            "--path.",
            "--sampling.",
            "--check.limits",
            "--check.nccl-",
            "--node.name");

    private ChildSettings() {}

    /** @param command parsed with this program's arguments */
    static List<String> of(CommandSpec command) {
        List<String> settings = new ArrayList<>();
        CommandLine line = command.commandLine();
        for (OptionSpec option : line.getParseResult().matchedOptions()) {
            String name = option.longestName();
            if (PREFIXES.stream().anyMatch(name::startsWith)) {
                option.originalStringValues().forEach(value -> settings.add(name + "=" + value));
            }
        }
        OptionSpec file = command.root().findOption("--config");
        if (file != null) {
            file.originalStringValues().forEach(value -> settings.add("--config=" + value));
        }
        return settings;
    }
}
