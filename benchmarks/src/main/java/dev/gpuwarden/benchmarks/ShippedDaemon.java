package dev.gpuwarden.benchmarks;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The shipped daemon: the image's launcher, as a child process on a simulated node. */
final class ShippedDaemon extends ShippedProgram {

    private static final Pattern SERVING = Pattern.compile("serving (http://\\S+)/metrics");
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(30);
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Path log;
    private final Path socket;

    private ShippedDaemon(Process process, Path log, String url, Path socket) {
        super(process, url);
        this.log = log;
        this.socket = socket;
    }

    /** Starts the daemon. Returns when it has read every GPU once. */
    static ShippedDaemon start(SimulatedNode node, List<String> options) throws IOException {
        return start(node, options, Map.of());
    }

    /** @param environment variables beside those of the node */
    static ShippedDaemon start(SimulatedNode node, List<String> options, Map<String, String> environment)
            throws IOException {
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
        builder.environment().putAll(environment);
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

    String log() throws IOException {
        return Files.readString(log);
    }
}
