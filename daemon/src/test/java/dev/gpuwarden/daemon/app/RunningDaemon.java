package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A daemon as a process of its own, with its output until it served. */
public record RunningDaemon(Process process, BufferedReader err, List<String> output, String address) {

    private static final Pattern SERVING = Pattern.compile(".*serving (http://127\\.0\\.0\\.1:[0-9]+)/metrics");

    public static RunningDaemon start(String... options) throws IOException {
        return start(Map.of(), List.of(options));
    }

    private static RunningDaemon start(Map<String, String> environment, List<String> options) throws IOException {
        List<String> command = new ArrayList<>(List.of("daemon", "--web.listen-address=127.0.0.1:0"));
        command.addAll(options);
        ProcessBuilder builder = ChildJvm.gpuwarden(command);
        builder.environment().putAll(environment);
        Process process = builder.start();
        BufferedReader err =
                new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
        List<String> output = new ArrayList<>();
        for (String line = err.readLine(); line != null; line = err.readLine()) {
            output.add(line);
            Matcher m = SERVING.matcher(line);
            if (m.matches()) {
                return new RunningDaemon(process, err, output, m.group(1));
            }
        }
        throw new AssertionError("the daemon ended: " + output);
    }

    public static RunningDaemon start(SimulatedNode node, String... more) throws IOException {
        return start(Map.of(), node, more);
    }

    /** @param environment for the daemon, and for the programs that it starts */
    public static RunningDaemon start(Map<String, String> environment, SimulatedNode node, String... more)
            throws IOException {
        List<String> options = new ArrayList<>(List.of(more));
        options.addAll(List.of(
                "--driver.library-path=" + node.libraryPath(),
                "--path.sysfs=" + node.sysfs(),
                "--path.procfs=" + node.procfs(),
                "--path.podlogs=" + node.podLogs(),
                "--store.path=" + node.root().resolve("events.db"),
                "--grpc.socket=" + socket(node),
                "--events.socket=" + node.root().resolve("nvsentinel.sock")));
        if (options.stream().noneMatch(option -> option.startsWith("--kernel-log."))) {
            options.add("--kernel-log.path=" + node.kernelLog());
        }
        return start(environment, options);
    }

    static Path socket(SimulatedNode node) {
        return node.root().resolve("gpuwarden.sock");
    }

    /** Waits until the metrics match, and returns them. */
    public String awaitMetrics(Predicate<String> condition) throws IOException, InterruptedException {
        while (true) {
            String metrics = get("/metrics").body();
            if (condition.test(metrics)) {
                return metrics;
            }
            assertThat(process.isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    public HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(address + path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    public void awaitReady() throws IOException, InterruptedException {
        while (get("/readyz").statusCode() != 200) {
            assertThat(process.isAlive()).isTrue();
            TimeUnit.MILLISECONDS.sleep(20);
        }
    }

    /** Sends SIGTERM, which takes a second on a quiet machine. */
    public void stop() throws InterruptedException {
        process.destroy();
        assertThat(process.waitFor(10, TimeUnit.SECONDS)).as("it ends in time").isTrue();
    }
}
