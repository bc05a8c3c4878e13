package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.packaging.Image.Run;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.BufferedReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;

/** The image with simulated drivers: libraries are found and loaded from their installed places. */
class SimulatedNodeImageTest {

    private static final Pattern SERVING = Pattern.compile("serving (http://\\S+/metrics)");

    private final Image image = Image.built();

    private Run scan(String scenario, String... javaOptions) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Map<String, String> environment = new HashMap<>(node.environment());
            environment.put("GPUWARDEN_JAVA_OPTS", String.join(" ", javaOptions));
            return image.run(List.of(), environment, "scan", "-o", "json");
        }
    }

    @Test
    void theSimulatedNodesAreListed() {
        Run run = image.run("sim", "list", "-o", "json");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.err()).isEmpty();
        assertThat(run.out()).contains("h100x8", "gpu-lost");
    }

    @Test
    void aProgramRunsOnASimulatedNode() {
        Run run = image.run(
                "sim",
                "exec",
                "h100x8",
                "--",
                image.home().resolve("bin/gpuwarden").toString(),
                "scan");
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).contains("NVIDIA H100 80GB HBM3");
    }

    @Test
    void aHealthyNodeIsFit() {
        Run run = scan("h100x8");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
        assertThat(run.err()).isEmpty();
        Map<?, ?> json = (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(run.out());
        assertThat((List<?>) json.get("gpus")).hasSize(8);
    }

    @Test
    void aLostGpuIsNotFit() {
        Run run = scan("gpu-lost");
        assertThat(run.code()).as(run.out() + run.err()).isEqualTo(1);
    }

    @Test
    void nothingIsUnpackedIntoTheTemporaryFolder() {
        Run run = scan("h100x8", "-Djava.io.tmpdir=/nonexistent");
        assertThat(run.code()).as(run.out() + run.err()).isZero();
    }

    /** A container on a node of GKE has no library of the driver in the loader's path, and the host's /usr has none either. */
    @Test
    void driverOfGkeIsFoundWhereItsComponentMountsIt() throws Exception {
        Path manifests = image.home().resolve("share/kubernetes");
        String component = Files.readString(manifests.resolve("components/gke/kustomization.yaml"));
        String inContainer = first(Pattern.compile("mountPath: ([^,}]+)"), component);
        String onHost = first(Pattern.compile("hostPath: \\{path: ([^,}]+)"), component);
        String searched = first(
                Pattern.compile("GPUWARDEN_DRIVER_LIBRARY_PATH, value: \"([^\"]+)\""),
                Files.readString(manifests.resolve("gpuwarden-daemon.yaml")));
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            Path host = Files.createDirectories(node.root().resolve("host" + onHost));
            Files.createSymbolicLink(host.resolve("lib64"), node.libraryPath().getParent());
            Map<String, String> environment = new HashMap<>(node.environment());
            environment.remove("LD_LIBRARY_PATH");
            environment.put("GPUWARDEN_DRIVER_LIBRARY_PATH", searched);
            String mount =
                    "mount -t tmpfs none $(dirname $1) && mkdir $1 && mount --bind $0 $1 && shift && exec \"$@\"";
            Run run = image.run(
                    List.of("unshare", "--map-root-user", "--mount", "sh", "-c", mount, host.toString(), inContainer),
                    environment,
                    "scan",
                    "-o",
                    "json");
            assertThat(run.code()).as(run.out() + run.err()).isZero();
            assertThat(run.out()).contains(inContainer + "/lib64/libnvidia-ml.so.1");
        }
    }

    private static String first(Pattern pattern, String text) {
        Matcher found = pattern.matcher(text);
        assertThat(found.find()).as(pattern.pattern()).isTrue();
        return found.group(1);
    }

    @Test
    void theDaemonServesAndStopsOnSigterm() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Process daemon = image.prepare(
                            List.of(),
                            node.environment(),
                            "daemon",
                            "--web.listen-address",
                            "127.0.0.1:0",
                            "--store.path",
                            node.root().resolve("events.db").toString())
                    .redirectErrorStream(true)
                    .start();
            try (BufferedReader log = daemon.inputReader(StandardCharsets.UTF_8)) {
                String metrics = serving(log);
                HttpResponse<String> response = HttpClient.newHttpClient()
                        .send(
                                HttpRequest.newBuilder(URI.create(metrics)).build(),
                                HttpResponse.BodyHandlers.ofString());
                assertThat(response.statusCode()).isEqualTo(200);
                assertThat(response.body()).contains("gpuwarden_").contains("gpuwarden_store_in_memory 0.0");
                daemon.destroy();
                assertThat(daemon.waitFor(20, TimeUnit.SECONDS)).isTrue();
                assertThat(daemon.exitValue()).isZero();
            } finally {
                daemon.destroyForcibly();
            }
        }
    }

    private static String serving(BufferedReader log) throws Exception {
        StringBuilder seen = new StringBuilder();
        for (String line = log.readLine(); line != null; line = log.readLine()) {
            seen.append(line).append('\n');
            Matcher serving = SERVING.matcher(line);
            if (serving.find()) {
                return serving.group(1);
            }
        }
        throw new AssertionError("the daemon ended before it served:\n" + seen);
    }
}
