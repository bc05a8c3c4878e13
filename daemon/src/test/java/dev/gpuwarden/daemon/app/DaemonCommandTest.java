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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The daemon as a process of its own, on a simulated node. */
@Timeout(60)
class DaemonCommandTest {

    private static final Pattern SERVING = Pattern.compile(".*serving (http://127\\.0\\.0\\.1:[0-9]+)/metrics");

    /** A running daemon and what it said until it served. */
    private record Running(Process process, BufferedReader err, List<String> said, String address) {

        static Running start(String... options) throws IOException {
            List<String> command = new ArrayList<>(List.of(
                    Path.of(System.getProperty("java.home"), "bin/java").toString(),
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    "--enable-native-access=ALL-UNNAMED",
                    "-Dgpuwarden.native.dir=" + System.getProperty("gpuwarden.native.dir"),
                    "-cp",
                    System.getProperty("java.class.path"),
                    "dev.gpuwarden.cli.Main",
                    "daemon",
                    "--web.listen-address=127.0.0.1:0"));
            command.addAll(List.of(options));
            Process process = new ProcessBuilder(command).start();
            BufferedReader err =
                    new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
            List<String> said = new ArrayList<>();
            for (String line = err.readLine(); line != null; line = err.readLine()) {
                said.add(line);
                Matcher m = SERVING.matcher(line);
                if (m.matches()) {
                    return new Running(process, err, said, m.group(1));
                }
            }
            throw new AssertionError("the daemon ended: " + said);
        }

        static Running start(SimulatedNode node) throws IOException {
            return start(
                    "--driver.library-path=" + node.libraryPath(),
                    "--path.sysfs=" + node.sysfs(),
                    "--path.procfs=" + node.procfs(),
                    "--path.podlogs=" + node.podLogs());
        }

        HttpResponse<String> get(String path) throws IOException, InterruptedException {
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create(address + path)).build(),
                            HttpResponse.BodyHandlers.ofString());
        }

        void awaitReady() throws IOException, InterruptedException {
            while (get("/readyz").statusCode() != 200) {
                assertThat(process.isAlive()).isTrue();
                TimeUnit.MILLISECONDS.sleep(20);
            }
        }

        /** SIGTERM; the exit code and how long it took. */
        Duration stop() throws InterruptedException {
            long start = System.nanoTime();
            process.destroy();
            assertThat(process.waitFor(10, TimeUnit.SECONDS)).isTrue();
            return Duration.ofNanos(System.nanoTime() - start);
        }
    }

    @Test
    void servesWhatItSeesAndStopsWhenTold() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("demo")) {
            Running daemon = Running.start(node);
            try {
                assertThat(String.join("\n", daemon.said()))
                        .contains("sampling.fast-interval=1s")
                        .contains("path.sysfs=" + node.sysfs());
                assertThat(daemon.said()).allMatch(line -> line.startsWith("INFO "));
                daemon.awaitReady();
                String metrics = daemon.get("/metrics").body();
                assertThat(metrics.lines().filter(l -> l.startsWith("gpuwarden_gpu_temperature_celsius{")))
                        .hasSize(8);
                assertThat(metrics).contains("llm-pretrain-0");
            } finally {
                Duration took = daemon.stop();
                assertThat(took).isLessThan(Duration.ofSeconds(2));
            }
            assertThat(daemon.process().exitValue()).isZero();
        }
    }

    @Test
    void stopsWhileAGpuHangs() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("gpu-hang")) {
            Running daemon = Running.start(node);
            assertThat(daemon.get("/healthz").statusCode()).isEqualTo(200);
            assertThat(daemon.stop()).isLessThan(Duration.ofSeconds(2));
            assertThat(daemon.process().exitValue()).isZero();
        }
    }

    @Test
    void runsWithoutAnyGpuAndSaysThatItKnowsNothing() throws Exception {
        Running daemon = Running.start("--driver.library-path=/nonexistent/libnvidia-ml.so.1");
        try {
            daemon.awaitReady();
            assertThat(daemon.get("/metrics").body()).contains("gpuwarden_");
        } finally {
            daemon.stop();
        }
        assertThat(daemon.process().exitValue()).isZero();
    }

    @Test
    void anAddressThatIsTakenIsAUserError() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Running first = Running.start(node);
            try {
                ProcessBuilder second = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        "dev.gpuwarden.cli.Main",
                        "daemon",
                        "--driver.library-path=" + node.libraryPath(),
                        "--web.listen-address=" + first.address().substring("http://".length()));
                Process process = second.redirectErrorStream(true).start();
                String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(process.waitFor()).isEqualTo(2);
                assertThat(said).contains("cannot listen on");
            } finally {
                first.stop();
            }
        }
    }
}
