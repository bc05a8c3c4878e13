package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Tells of all objects of a kind, and again of each that changes. In a process of its own, which takes little: the aggregator's share of
 * this machine is what is measured. It ends when the API server ends its watch, as it does where too much happens; then all are
 * told anew.
 */
final class KubectlWatch implements AutoCloseable {

    private final List<String> command;
    private final Consumer<String[]> line;
    private Process process;
    private boolean closed;

    /**
     * @param columns as kubectl's custom columns
     * @param line gets the words of each, in a thread of its own
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
        Thread thread = new Thread(this::follow, "load-" + what);
        thread.setDaemon(true);
        thread.start();
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
