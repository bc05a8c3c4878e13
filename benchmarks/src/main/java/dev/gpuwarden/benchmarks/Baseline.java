package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.telemetry.Cadence;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The C program that takes the same readings (src/main/c/sampler_loop.c), as a child process. */
final class Baseline implements AutoCloseable {

    private final Process process;
    private final Writer commands;
    private final BufferedReader answers;

    private Baseline(Process process) {
        this.process = process;
        this.commands = process.outputWriter(StandardCharsets.US_ASCII);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
    }

    /**
     * Starts the C program.
     *
     * @param gpus number of GPUs from the first on; 0 for all
     */
    static Baseline start(String library, int gpus) {
        String program = System.getProperty("gpuwarden.baseline");
        if (program == null || !Files.isExecutable(Path.of(program))) {
            throw new IllegalStateException("gpuwarden.baseline: expected the program sampler_loop, seen " + program);
        }
        try {
            return new Baseline(new ProcessBuilder(program, library, Integer.toString(gpus))
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Takes the readings of all GPUs `rounds` times. Blocks until it is done.
     *
     * @return library calls of one round
     */
    long rounds(Cadence cadence, int rounds) {
        String answer = ask(cadence.name().toLowerCase(Locale.ROOT) + " " + rounds);
        return Long.parseLong(answer.substring(0, answer.indexOf(' ')));
    }

    /** Returns every reading of every GPU as a JSON array. */
    String values() {
        return ask("values");
    }

    private String ask(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
            String answer = answers.readLine();
            if (answer == null) {
                throw new IllegalStateException("sampler_loop ended at: " + command);
            }
            return answer;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroy();
    }
}
