package dev.gpuwarden.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A child process that answers each line of its input by one line. */
final class LineProgram implements AutoCloseable {

    private final Process process;
    private final Writer commands;
    private final BufferedReader answers;

    private LineProgram(Process process) {
        this.process = process;
        this.commands = process.outputWriter(StandardCharsets.US_ASCII);
        this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII));
    }

    /** Starts the program whose path is in a system property. */
    static LineProgram start(String property, String... arguments) {
        String program = System.getProperty(property, "");
        if (!Files.isExecutable(Path.of(program))) {
            throw new IllegalStateException("expected an executable in -D" + property + ", seen '" + program
                    + "': make -C benchmarks builds it");
        }
        List<String> command = new ArrayList<>(List.of(program));
        command.addAll(List.of(arguments));
        try {
            return new LineProgram(new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a line, and returns the answer. */
    String ask(String line) {
        try {
            commands.write(line + "\n");
            commands.flush();
            String answer = answers.readLine();
            if (answer == null) {
                throw new IllegalStateException(process.info().command().orElse("the program") + " ended at: " + line);
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
