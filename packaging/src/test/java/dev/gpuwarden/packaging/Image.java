package dev.gpuwarden.packaging;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** The assembled image, run like a user runs it: as a child process. */
record Image(Path home) {

    private static final long TIMEOUT_SECONDS = 60;

    /** The result of a run. */
    record Run(int code, String out, String err) {}

    /** Returns the image of the last build. */
    static Image built() {
        return new Image(Path.of(System.getProperty("gpuwarden.image")));
    }

    /** Returns a copy in a folder in which it has never been. */
    Image copyTo(Path folder) throws IOException, InterruptedException {
        new ProcessBuilder("cp", "-a", home.toString(), folder.toString())
                .inheritIO()
                .start()
                .waitFor();
        return new Image(folder);
    }

    Run run(String... args) {
        return run(List.of(), Map.of(), args);
    }

    /**
     * Runs it with an empty environment from the root folder. Blocks until it ends.
     *
     * @param before words in front of the command, for example to become another user
     */
    Run run(List<String> before, Map<String, String> environment, String... args) {
        try {
            Path out = Files.createTempFile("gpuwarden", ".out");
            Path err = Files.createTempFile("gpuwarden", ".err");
            Process process = prepare(before, environment, args)
                    .redirectOutput(out.toFile())
                    .redirectError(err.toFile())
                    .start();
            if (!process.waitFor(TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new IllegalStateException(List.of(args) + " did not end within " + TIMEOUT_SECONDS + " s");
            }
            Run run = new Run(process.exitValue(), read(out), read(err));
            Files.delete(out);
            Files.delete(err);
            return run;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns a run with an empty environment from the root folder, not started yet. */
    ProcessBuilder prepare(List<String> before, Map<String, String> environment, String... args) {
        List<String> command = new ArrayList<>(before);
        command.add(home.resolve("bin/gpuwarden").toString());
        command.addAll(List.of(args));
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(Path.of("/").toFile());
        builder.environment().clear();
        builder.environment().put("PATH", System.getenv("PATH"));
        builder.environment().putAll(environment);
        return builder;
    }

    private static String read(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }
}
