package dev.gpuwarden.testkit.command;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.Unchecked;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The real daemon, as a child process on the demo's node. */
final class NodeDemoDaemon implements AutoCloseable {

    private static final Pattern SERVING = Pattern.compile("serving (http://[^/\\s]+)/metrics");
    private static final int TIMEOUT_MILLIS = 2_000;

    private final Process process;
    private final Path log;

    private NodeDemoDaemon(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** @param quiet time without new events after which a fault without a recommended action ends */
    static NodeDemoDaemon start(SimulatedNode node, Duration quiet) {
        Path log = node.root().resolve("daemon.log");
        ProcessBuilder builder = SameProgram.run(
                        node.environment(),
                        "daemon",
                        "--web.listen-address",
                        "127.0.0.1:0",
                        "--store.path",
                        node.root().resolve("events.db").toString(),
                        "--sampling.fast-interval",
                        Durations.text(NodeDemoStep.FAST),
                        "--sampling.process-interval",
                        Durations.text(NodeDemoStep.PROCESSES),
                        "--sampling.deadline",
                        Durations.text(NodeDemoStep.DEADLINE),
                        "--driver.recovery-interval",
                        Durations.text(NodeDemoStep.RECOVERY),
                        "--check.interval",
                        "gpu-remapped-rows=" + Durations.text(NodeDemoStep.FAST),
                        "--kernel-log.storm-window",
                        Durations.text(NodeDemoStep.FAST),
                        "--kernel-log.quiet",
                        Durations.text(quiet))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile());
        return Unchecked.get(() -> new NodeDemoDaemon(builder.start(), log));
    }

    boolean running() {
        return process.isAlive();
    }

    void await() throws InterruptedException {
        process.waitFor();
    }

    /** Returns its log so far. */
    String log() {
        return Unchecked.get(() -> Files.readString(log));
    }

    /** Returns its address; empty before it serves. */
    Optional<String> address() {
        Matcher serving = SERVING.matcher(log());
        return serving.find() ? Optional.of(serving.group(1)) : Optional.empty();
    }

    /** Returns the whole exposition; empty when it cannot be fetched now. */
    String metrics() {
        return get("/metrics");
    }

    /** Returns the page's JSON of the node and its faults; empty when it cannot be fetched now. */
    String page() {
        return get("/api/v1/node") + get("/api/v1/faults");
    }

    private String get(String path) {
        Optional<String> address = address();
        if (address.isEmpty()) {
            return "";
        }
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create(address.get() + path).toURL().openConnection();
            connection.setConnectTimeout(TIMEOUT_MILLIS);
            connection.setReadTimeout(TIMEOUT_MILLIS);
            try (InputStream in = connection.getInputStream()) {
                return new String(in.readAllBytes(), StandardCharsets.UTF_8);
            }
        } catch (IOException notNow) {
            return "";
        }
    }

    @Override
    public void close() {
        Execution.end(process, 5);
    }
}
