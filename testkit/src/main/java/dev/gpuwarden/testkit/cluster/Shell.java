package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
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
        Result result = run(command);
        if (result.code() != 0) {
            throw new IllegalStateException(script + " " + String.join(" ", arguments) + ": ended with exit code "
                    + result.code() + ": " + result.said());
        }
        return result.said();
    }

    /** Returns true for exit code 0; blocks until the program ends. */
    static boolean succeeds(List<String> command) {
        return run(command).code() == 0;
    }

    private record Result(int code, String said) {}

    private static Result run(List<String> command) {
        try {
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            process.getOutputStream().close();
            String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            return new Result(process.waitFor(), said);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + command.get(0) + " runs", e);
        }
    }
}
