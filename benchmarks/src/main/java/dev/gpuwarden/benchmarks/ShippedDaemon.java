package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The shipped daemon: the image's launcher, as a child process on a simulated node. */
final class ShippedDaemon implements AutoCloseable {

    private static final Pattern SERVING = Pattern.compile("serving (http://\\S+)/metrics");
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Process process;
    private final Path log;
    private final String url;
    private final Path socket;

    private ShippedDaemon(Process process, Path log, String url, Path socket) {
        this.process = process;
        this.log = log;
        this.url = url;
        this.socket = socket;
    }

    /** Starts the daemon. Returns when it has read every GPU once. */
    static ShippedDaemon start(SimulatedNode node, List<String> options) throws IOException {
        Path program = Path.of(System.getProperty("gpuwarden.image"), "bin/gpuwarden");
        Path log = node.root().resolve("daemon.log");
        Path socket = node.root().resolve("benchmark.sock");
        List<String> command = new ArrayList<>(List.of(
                program.toString(),
                "daemon",
                "--web.listen-address",
                "127.0.0.1:0",
                "--grpc.socket",
                socket.toString()));
        command.addAll(options);
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(node.environment());
        Process process = builder.start();
        long until = System.nanoTime() + START_NANOS;
        while (true) {
            Matcher serving = SERVING.matcher(Files.readString(log));
            if (serving.find()) {
                ShippedDaemon daemon = new ShippedDaemon(process, log, serving.group(1), socket);
                if (daemon.get("/readyz").isPresent()) {
                    return daemon;
                }
            }
            if (!process.isAlive() || System.nanoTime() - until > 0) {
                process.destroyForcibly();
                throw new IOException("the daemon did not start:\n" + Files.readString(log));
            }
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    Path socket() {
        return socket;
    }

    /** Returns the address in the form "http://127.0.0.1:PORT". */
    String url() {
        return url;
    }

    String log() throws IOException {
        return Files.readString(log);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the answer's text; empty for any other status than 200. */
    java.util.Optional<String> get(String path) {
        try (InputStream in = URI.create(url + path).toURL().openStream()) {
            return java.util.Optional.of(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            // The daemon is not ready: it answers 503, for which Java throws.
            return java.util.Optional.empty();
        }
    }

    /** Returns the sum of all series of that name. */
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

    long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc", Long.toString(process.pid()), "fd"))) {
            return files.count();
        }
    }

    double cpuSeconds() {
        return process.info().totalCpuDuration().orElseThrow().toNanos() / 1e9;
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
