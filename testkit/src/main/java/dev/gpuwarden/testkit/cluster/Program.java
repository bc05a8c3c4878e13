package dev.gpuwarden.testkit.cluster;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A part of a cluster as a child process that ends with this one, however this one ends. */
final class Program implements AutoCloseable {

    private static final Duration ENDING = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final int TAIL_LINES = 20;

    private final String name;
    private final Process process;
    private final Path log;

    private Program(String name, Process process, Path log) {
        this.name = name;
        this.process = process;
        this.log = log;
    }

    /** @param folder where its log is; deleted when this process dies before {@link #close()} */
    static Program start(Path folder, Path binary, List<String> flags) {
        String name = binary.getFileName().toString();
        Path log = folder.resolve(name + ".log");
        List<String> command = new ArrayList<>(List.of(
                "sh", "-c", Resource.text("with-owner.sh"), "with-owner", folder.toString(), binary.toString()));
        command.addAll(flags);
        try {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            return new Program(name, process, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean running() {
        return process.isAlive();
    }

    /**
     * Looks again and again until the condition holds.
     *
     * @throws IllegalStateException when the program ends first, or the time is over, with the end of its log
     */
    void await(Duration limit, String what, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            if (process.waitFor(POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new IllegalStateException(name + ": expected " + what + ", it ended with exit code "
                        + process.exitValue() + "; the end of its log:\n" + tail());
            }
            if (System.nanoTime() - end > 0) {
                throw new IllegalStateException(name + ": expected " + what + " within " + limit.toSeconds()
                        + " s, it runs and is not; the end of its log:\n" + tail());
            }
        }
    }

    private String tail() {
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return log + " cannot be read: " + e;
        }
    }

    /** Ends it in order, by force when that takes too long, and waits for its end. */
    @Override
    public void close() {
        // Not Process.destroy(), which closes the pipe first: the program would be killed as if its owner were gone.
        process.toHandle().destroy();
        try {
            if (!process.waitFor(ENDING.toMillis(), TimeUnit.MILLISECONDS)) {
                process.toHandle().destroyForcibly();
                process.waitFor();
            }
        } catch (InterruptedException e) {
            process.toHandle().destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
