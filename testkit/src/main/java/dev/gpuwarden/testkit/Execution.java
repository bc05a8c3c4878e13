package dev.gpuwarden.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** A program that has ended, with its exit code and its standard output. */
public record Execution(int code, String output) {

    /**
     * Runs a program, which is killed where this thread is interrupted; blocks until it ends. A standard input that is not redirected
     * is empty.
     *
     * @throws UncheckedIOException when the program cannot be started
     */
    public static Execution of(ProcessBuilder builder) {
        try {
            Process process = builder.start();
            process.getOutputStream().close();
            return of(process);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted while " + builder.command() + " runs", e);
        }
    }

    /** Blocks until a program that was started ends; kills it where this thread is interrupted. */
    public static Execution of(Process process) throws InterruptedException {
        try {
            String output =
                    Unchecked.get(() -> new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
            return new Execution(process.waitFor(), output);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    /** Ends a program by SIGTERM, and by SIGKILL after this time or when the thread is interrupted. Waits this long again at most. */
    public static void end(Process process, int seconds) {
        process.destroy();
        try {
            if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor(seconds, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
