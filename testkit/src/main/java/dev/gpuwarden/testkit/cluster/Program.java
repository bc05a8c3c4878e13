package dev.gpuwarden.testkit.cluster;

import dev.gpuwarden.testkit.Resource;
import dev.gpuwarden.testkit.Unchecked;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** A program of a cluster: a child process that ends with this process, even when that is killed. */
record Program(String name, Process process, Path log) implements AutoCloseable {

    private static final int TAIL_LINES = 20;
    private static final Duration ENDING = Duration.ofSeconds(30);
    private static final Duration POLL = Duration.ofMillis(20);

    /**
     * @param folder of its log; deleted when this process dies before {@link #close()}
     * @param after a line of shell that runs before the folder is deleted
     */
    static Program start(Path folder, String name, String after, List<String> program) {
        Path log = folder.resolve(name + ".log");
        List<String> command = new ArrayList<>(
                List.of("sh", "-c", Resource.text("cluster/with-owner.sh"), "with-owner", folder.toString(), after));
        command.addAll(program);
        return Unchecked.get(() -> {
            Process process = new ProcessBuilder(command)
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            return new Program(name, process, log);
        });
    }

    void whenItEnds(Runnable action) {
        var unused = process.onExit().thenRun(action);
    }

    boolean running() {
        return process.isAlive();
    }

    /** Returns its first process in a network namespace of its own; empty before there is one. */
    Optional<ProcessHandle> inside() {
        Path own = network(ProcessHandle.current().pid()).orElseThrow();
        return process.children()
                .filter(child ->
                        network(child.pid()).filter(its -> !its.equals(own)).isPresent())
                .findFirst();
    }

    private static Optional<Path> network(long pid) {
        try {
            return Optional.of(Files.readSymbolicLink(Path.of("/proc", Long.toString(pid), "ns", "net")));
        } catch (IOException hasEnded) {
            return Optional.empty();
        }
    }

    /** An end that waits. */
    interface Ending {
        void run() throws InterruptedException;
    }

    /** Ends something; a thread that was interrupted before is interrupted again after it. */
    static void uninterrupted(Ending ending) {
        boolean interrupted = Thread.interrupted();
        try {
            ending.run();
        } catch (InterruptedException e) {
            interrupted = true;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Kills it, and waits for all processes in its process namespace: the first process of a namespace ends last. */
    void kill() {
        Optional<ProcessHandle> first = inside();
        process.toHandle().destroyForcibly();
        uninterrupted(() -> {
            process.waitFor();
            first.ifPresent(inside -> inside.onExit().join());
        });
    }

    /**
     * Polls until the condition holds.
     *
     * @throws IllegalStateException when the program ends first, or after the limit, with the end of its log; when the thread is
     *     interrupted
     */
    void await(Duration limit, String what, BooleanSupplier condition) {
        long end = System.nanoTime() + limit.toNanos();
        try {
            while (!condition.getAsBoolean()) {
                if (process.waitFor(POLL.toMillis(), TimeUnit.MILLISECONDS)) {
                    throw new IllegalStateException(name + ": expected " + what + ", it ended with exit code "
                            + process.exitValue() + "; the end of its log:\n" + tail(log));
                }
                if (System.nanoTime() - end > 0) {
                    throw new IllegalStateException(name + ": expected " + what + " within " + limit.toSeconds()
                            + " s, it runs and is not; the end of its log:\n" + tail(log));
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(name + ": expected " + what + ", interrupted before", e);
        }
    }

    /** Ends it by SIGTERM, and by SIGKILL when that takes too long or is interrupted; waits for its end. */
    @Override
    public void close() {
        // Not Process.destroy(), which closes the pipe first: the program would be killed as if its owner had ended.
        process.toHandle().destroy();
        uninterrupted(() -> {
            try {
                process.waitFor(ENDING.toMillis(), TimeUnit.MILLISECONDS);
            } finally {
                process.toHandle().destroyForcibly();
            }
            process.waitFor();
        });
    }

    /** Returns the last 20 lines, or the reason why they cannot be read. */
    static String tail(Path log) {
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - TAIL_LINES), lines.size()));
        } catch (IOException e) {
            return log + " cannot be read: " + e;
        }
    }
}
