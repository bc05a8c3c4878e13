package dev.gpuwarden.daemon.app;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
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
            "--check.young",
            "--node.name");

    private ChildSettings() {}

    /** @param command parsed with this program's arguments */
    static List<String> of(CommandSpec command) {
        return of(command, PREFIXES);
    }

    /** Returns those of {@code gpuwarden gpu-reset}, which also calls this daemon. */
    static List<String> ofReset(CommandSpec command) {
        return of(
                command,
                Stream.concat(PREFIXES.stream(), Stream.of("--grpc.socket", "--reset.state"))
                        .toList());
    }

    /** Returns those of {@code gpuwarden bundle}. */
    static List<String> ofBundle(CommandSpec command) {
        return of(command, List.of("--path.", "--kernel-log."));
    }

    private static List<String> of(CommandSpec command, List<String> prefixes) {
        List<String> settings = new ArrayList<>();
        CommandLine line = command.commandLine();
        for (OptionSpec option : line.getParseResult().matchedOptions()) {
            String name = option.longestName();
            if (prefixes.stream().anyMatch(name::startsWith) && !name.startsWith("--grpc.socket-")) {
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
