package dev.gpuwarden.packaging;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Scripts beside the launcher, run like a user runs them. */
final class Scripts {

    private Scripts() {}

    /** The result of a run; `said` is its standard error. */
    record Run(int code, String out, String said) {}

    /** Runs a script of the image. Blocks until it ends. */
    static Run run(Path folder, Map<String, String> environment, String script, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(
                List.of(Image.built().home().resolve("bin").resolve(script).toString()));
        command.addAll(List.of(arguments));
        return run(folder, environment, command);
    }

    private static Run run(Path folder, Map<String, String> environment, List<String> command) throws Exception {
        Path said = folder.resolve("said");
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(folder.toFile()).redirectError(said.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), out, Files.readString(said));
    }

    /** Runs any program. Throws an error if the program fails. */
    static String must(Path folder, String... command) throws Exception {
        Run run = run(folder, Map.of(), List.of(command));
        if (run.code() != 0) {
            throw new AssertionError(String.join(" ", command) + " ended with " + run.code() + ": " + run.said());
        }
        return run.out();
    }
}
