package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.tls.TestKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the start of the program without an API server. */
@Tag("programs")
class AggregatorStartTest {

    private static final Pattern SERVING = Pattern.compile("serving (http://\\S+)/metrics");

    @TempDir
    Path folder;

    private Path kubeconfig;

    @BeforeEach
    void writeKubeconfigOfAbsentServer() throws IOException {
        kubeconfig = Files.writeString(folder.resolve("kubeconfig"), """
                apiVersion: v1
                kind: Config
                current-context: none
                contexts: [{name: none, context: {cluster: none, user: none}}]
                clusters: [{name: none, cluster: {server: "https://127.0.0.1:1"}}]
                users: [{name: none, user: {token: none}}]
                """);
    }

    private Process start(Path certificate, Path key) throws IOException {
        return program(
                        "aggregator",
                        "--cluster.kubeconfig=" + kubeconfig,
                        "--ingest.listen=127.0.0.1:0",
                        "--ingest.tls-cert=" + certificate,
                        "--ingest.tls-key=" + key,
                        "--web.listen-address=127.0.0.1:0")
                .start();
    }

    private static ProcessBuilder program(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                "dev.gpuwarden.cli.Main"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true);
    }

    private static String get(String url) throws Exception {
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(URI.create(url)).build(), HttpResponse.BodyHandlers.ofString())
                .body();
    }

    @Test
    void servesPagesReportsPendingListsAndStops() throws Exception {
        TestKeys keys = new TestKeys(folder);
        Process aggregator = start(keys.certificate("aggregator"), keys.key("aggregator"));
        try (BufferedReader output = aggregator.inputReader()) {
            Matcher serving = SERVING.matcher("");
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                assertThat(line).doesNotContain("taking reports");
                if (serving.reset(line).find()) {
                    break;
                }
            }
            assertThat(get(serving.group(1) + "/readyz"))
                    .contains("no daemon can connect yet", "nodes", "quarantinerulesets");
            assertThat(get(serving.group(1) + "/metrics"))
                    .contains(
                            "gpuwarden_aggregator_nodes_connected 0.0",
                            "gpuwarden_aggregator_monitor_writes_total 0.0");
            // Process.destroy would close its output.
            assertThat(aggregator.toHandle().destroy()).isTrue();
            assertThat(aggregator.waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(aggregator.exitValue()).isZero();
            assertThat(output.lines().collect(Collectors.joining())).doesNotContain("taking reports");
        } finally {
            aggregator.destroyForcibly();
        }
    }

    @Test
    void unusableFilesEndTheProgramImmediately() throws Exception {
        Process aggregator = start(folder.resolve("none.pem"), folder.resolve("none.key"));
        try {
            String output = aggregator.inputReader().lines().collect(Collectors.joining());
            assertThat(output).contains("--ingest.tls-cert", "none.pem");
            assertThat(aggregator.waitFor()).isEqualTo(2);
        } finally {
            aggregator.destroyForcibly();
        }
    }

    /** The program's configuration must accept every setting: one that it refuses would keep each command from starting. */
    @Test
    void configurationAcceptsEverySetting() throws Exception {
        ProcessBuilder builder = program("config", "--output=yaml", "--ingest.monitor=fabric/one,cloud/two");
        builder.environment().put("GPUWARDEN_QUARANTINE_MODE", "armed");
        Process config = builder.start();
        String output = config.inputReader().lines().collect(Collectors.joining("\n"));
        assertThat(config.waitFor()).as(output).isZero();
        assertThat(output).contains("fabric/one", "cloud/two", "ingest", "armed");
    }
}
