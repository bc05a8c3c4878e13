package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.Execution;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLConnection;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/** A program of the image as a child process, with its metrics and its use of the machine. */
class ShippedProgram implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 10_000;

    private final Process process;
    private final String url;

    /** @param url address of its pages in the form "http://127.0.0.1:PORT" */
    ShippedProgram(Process process, String url) {
        this.process = process;
        this.url = url;
    }

    /** Returns the address in the form "http://127.0.0.1:PORT". */
    String url() {
        return url;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the answer's text; empty for any other status than 200, and without an answer. */
    Optional<String> get(String path) {
        try {
            URLConnection connection = URI.create(url + path).toURL().openConnection();
            connection.setConnectTimeout(PATIENCE_MILLIS);
            connection.setReadTimeout(PATIENCE_MILLIS);
            try (InputStream in = connection.getInputStream()) {
                return Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        } catch (IOException e) {
            // The program is not ready: it answers 503, for which Java throws.
            return Optional.empty();
        }
    }

    /** Returns the sum of all series of that name, which may have labels; 0 if it is absent or the program does not answer. */
    double metric(String name) {
        return get("/metrics")
                .orElse("")
                .lines()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    /** Returns a number of /proc/PID/status, for example "VmRSS" in KiB or "Threads". */
    long status(String field) throws IOException {
        return Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status")).stream()
                .filter(line -> line.startsWith(field + ":"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                .findFirst()
                .orElseThrow();
    }

    long residentMib() throws IOException {
        return status("VmRSS") / 1024;
    }

    long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(process.pid()), "fd"))) {
            return files.count();
        }
    }

    /** Returns processor time since its start, in seconds. */
    double cpuSeconds() {
        return process.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }

    /** Stops the program until {@link #resume}, so that it takes no time of the machine. */
    void pause() {
        signal("STOP");
    }

    void resume() {
        signal("CONT");
    }

    private void signal(String name) {
        Execution signal = Execution.of(new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())));
        if (signal.code() != 0) {
            throw new IllegalStateException("kill -" + name + ": " + signal.output());
        }
    }

    void kill() throws InterruptedException {
        var unused = process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        Execution.end(process, 10);
    }
}
