package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.Resource;
import java.util.ArrayList;
import java.util.List;

/** Runs scripts of this package's resources, and programs. */
final class Shell {

    private Shell() {}

    /**
     * Blocks until it ends.
     *
     * @return what it printed
     * @throws IllegalStateException when it fails, with its output
     */
    static String run(String script, String... arguments) {
        List<String> command = new ArrayList<>(List.of("sh", "-c", Resource.text("cluster/" + script), script));
        command.addAll(List.of(arguments));
        Execution result = run(command);
        if (result.code() != 0) {
            throw new IllegalStateException(script + " " + String.join(" ", arguments) + ": ended with exit code "
                    + result.code() + ": " + result.output());
        }
        return result.output();
    }

    /** Returns true for exit code 0; blocks until the program ends. */
    static boolean succeeds(List<String> command) {
        return run(command).code() == 0;
    }

    private static Execution run(List<String> command) {
        return Execution.of(new ProcessBuilder(command).redirectErrorStream(true));
    }
}
