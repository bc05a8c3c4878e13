package dev.gpuwarden.daemon.app;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The settings of this daemon's command line that a child gets too: all that the child's command has. The child
 * inherits the environment and reads the same file. Each call describes the child's command, which costs memory: only a start
 * of a child needs it.
 */
final class ChildSettings {

    /** The child is named its check, asks no daemon, and starts no child. */
    private static final Set<String> NOT_OF_A_CHECK =
            Set.of("--check.isolation", "--check.only", "--check.disable", "--grpc.socket");

    private ChildSettings() {}

    /**
     * Returns those of {@code gpuwarden check}.
     *
     * @param command parsed with this program's arguments
     */
    static List<String> ofCheck(CommandSpec command) {
        return of(command, "check", NOT_OF_A_CHECK);
    }

    /** Returns those of {@code gpuwarden gpu-reset}, which also calls this daemon. */
    static List<String> ofReset(CommandSpec command) {
        return of(command, "gpu-reset", Set.of());
    }

    /** Returns those of {@code gpuwarden bundle}. */
    static List<String> ofBundle(CommandSpec command) {
        return of(command, "bundle", Set.of());
    }

    private static List<String> of(CommandSpec command, String child, Set<String> withheld) {
        List<String> settings = new ArrayList<>();
        List<OptionSpec> given = command.commandLine().getParseResult().matchedOptions().stream()
                .filter(option -> option.longestName().contains("."))
                .filter(option -> !withheld.contains(option.longestName()))
                .toList();
        // A node without such arguments needs no model of the child's command.
        if (!given.isEmpty()) {
            CommandSpec accepted = CommandSpec.forAnnotatedObject(DaemonCommands.command(child));
            for (OptionSpec option : given) {
                if (accepted.findOption(option.longestName()) != null) {
                    option.originalStringValues().forEach(value -> settings.add(option.longestName() + "=" + value));
                }
            }
        }
        OptionSpec file = command.root().findOption("--config");
        if (file != null) {
            file.originalStringValues().forEach(value -> settings.add("--config=" + value));
        }
        return settings;
    }
}
