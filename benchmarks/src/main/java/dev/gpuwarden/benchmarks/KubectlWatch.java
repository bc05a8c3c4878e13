package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A watch of all objects of a kind: reports each object, and again each that changes. It is a separate process with little
 * load, because the benchmark measures the aggregator's share of the machine. It ends when the API server ends its watch,
 * which happens under high load. It then starts again and reports all objects.
 */
final class KubectlWatch implements AutoCloseable {

    private final List<String> command;
    private final Consumer<String[]> line;
    private Process process;
    private boolean closed;

    /**
     * @param columns kubectl's custom columns
     * @param line receiver of the words of each line, called on one thread
     */
    KubectlWatch(ControlPlane plane, String what, String columns, Consumer<String[]> line, String... more)
            throws IOException {
        this.command = new ArrayList<>(List.of(
                Binaries.ofUser().path("kubectl").toString(),
                "--kubeconfig=" + plane.adminKubeconfig(),
                "get",
                what,
                "--watch",
                "--no-headers",
                "--output=custom-columns=" + columns));
        command.addAll(List.of(more));
        this.line = line;
        this.process = start();
        Threads.daemon("load-" + what, this::follow).start();
    }

    private Process start() throws IOException {
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private void follow() {
        try {
            Process now = process;
            while (true) {
                now.inputReader()
                        .lines()
                        .forEach(text -> line.accept(text.trim().split(" +")));
                synchronized (this) {
                    if (closed) {
                        return;
                    }
                    process = start();
                    now = process;
                }
            }
        } catch (IOException | UncheckedIOException e) {
            if (!isClosed()) {
                throw new IllegalStateException(String.join(" ", command), e);
            }
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        process.destroy();
    }
}
