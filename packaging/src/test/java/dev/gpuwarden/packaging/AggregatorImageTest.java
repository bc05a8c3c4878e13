package dev.gpuwarden.packaging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.packaging.Image.Run;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Daemon and aggregator as they are shipped, with a simulated node and a real API server: from a line of the kernel log to
 * kubectl.
 */
@Tag("image")
@Timeout(600)
class AggregatorImageTest {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");
    private static final Pattern TAKING = Pattern.compile("taking reports of nodes on \\S+:(\\d+)");
    private static final Pattern SERVING = Pattern.compile("serving http://\\S+:(\\d+)/metrics");
    private static final String NODE = "gpu-node";

    @TempDir
    Path folder;

    private final Image image = Image.built();
    private final List<Process> processes = new ArrayList<>();
    private ControlPlane plane;

    @BeforeEach
    void prepare() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        // Applies all of them: the aggregator waits a minute for kinds that are not installed.
        plane.kubectl("apply", "--filename", MANIFESTS.resolve("crds").toString());
        plane.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=120s");
        for (String manifest : List.of("node/gpuwarden-node.yaml", "gpuwarden-aggregator.yaml")) {
            plane.apply(Files.readString(MANIFESTS.resolve(manifest)));
        }
        plane.apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s}
                ---
                apiVersion: v1
                kind: Pod
                metadata: {name: daemon, namespace: gpuwarden}
                spec:
                  nodeName: %s
                  serviceAccountName: gpuwarden
                  automountServiceAccountToken: false
                  containers: [{name: daemon, image: none}]
                """.formatted(NODE, NODE));
        openssl("req -x509 -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -newkey ec"
                + " -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem -out cert.pem");
    }

    private void openssl(String arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(("openssl " + arguments).split(" "))
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    @AfterEach
    void stop() throws InterruptedException {
        for (Process process : processes) {
            process.destroyForcibly().waitFor();
        }
    }

    private Process start(Map<String, String> environment, String log, String... arguments) throws IOException {
        Process process = image.prepare(List.of(), environment, arguments)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(log).toFile())
                .start();
        processes.add(process);
        return process;
    }

    private String awaitLine(Process process, String log, Pattern wanted) throws Exception {
        while (true) {
            boolean ended = !process.isAlive();
            try (BufferedReader lines = Files.newBufferedReader(folder.resolve(log))) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    Matcher found = wanted.matcher(line);
                    if (found.find()) {
                        return found.group(1);
                    }
                }
            }
            assertThat(ended).as(() -> read(log)).isFalse();
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private String read(String log) {
        try {
            return Files.readString(folder.resolve(log));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private void awaitHealth(String... wanted) throws InterruptedException {
        while (true) {
            String seen = plane.kubectl("get", "nodehealth", NODE, "--ignore-not-found", "--no-headers");
            if (List.of(wanted).stream().allMatch(seen::contains)) {
                return;
            }
            for (Process process : processes) {
                assertThat(process.isAlive())
                        .as(() -> read("aggregator.log") + read("daemon.log"))
                        .isTrue();
            }
            TimeUnit.MILLISECONDS.sleep(100);
        }
    }

    private static HttpResponse<String> get(String port, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void aKernelLogFaultAppearsInKubectlAndClearsAfterRepair() throws Exception {
        Path token = Files.writeString(
                folder.resolve("token"),
                plane.kubectl(
                        "create",
                        "token",
                        "gpuwarden",
                        "--namespace=gpuwarden",
                        "--audience=gpuwarden-aggregator",
                        "--bound-object-kind=Pod",
                        "--bound-object-name=daemon"));
        Process aggregator = start(
                Map.of(),
                "aggregator.log",
                "aggregator",
                "--cluster.kubeconfig=" + plane.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator")),
                "--ingest.listen=127.0.0.1:0",
                "--ingest.tls-cert=" + folder.resolve("cert.pem"),
                "--ingest.tls-key=" + folder.resolve("key.pem"),
                "--web.listen-address=127.0.0.1:0");
        String port = awaitLine(aggregator, "aggregator.log", TAKING);
        String web = awaitLine(aggregator, "aggregator.log", SERVING);
        assertThat(get(web, "/readyz").body()).isEqualTo("ok\n");
        assertThat(read("aggregator.log")).as("BoringSSL is found in the image").doesNotContain("Java's own TLS");
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Process daemon = start(
                    node.environment(),
                    "daemon.log",
                    "daemon",
                    "--node.name=" + NODE,
                    "--web.listen-address=127.0.0.1:0",
                    "--web.token-review=on",
                    "--store.path=" + folder.resolve("events.db"),
                    "--grpc.socket=" + folder.resolve("node.sock"),
                    "--events.socket=none",
                    "--uplink.address=localhost:" + port,
                    "--uplink.tls-ca=" + folder.resolve("cert.pem"),
                    "--uplink.token-file=" + token);
            awaitHealth("Healthy");
            node.set("gpu.4.xid", "79");
            awaitHealth("Faulty", "SysLogsXIDError 79", "RESTART_BM");
            aTokenOfKubernetesOpensThePage(awaitLine(daemon, "daemon.log", SERVING));
            Run mended = image.run(
                    "set-healthy",
                    "--grpc.socket=" + folder.resolve("node.sock"),
                    "--all",
                    "--yes",
                    "--reason=the GPU was changed");
            assertThat(mended.code()).as(mended.out() + mended.err()).isZero();
            awaitHealth("Healthy");
        }
        assertThat(get(web, "/metrics").body())
                .contains("gpuwarden_aggregator_nodes_connected 1.0")
                .containsPattern("gpuwarden_aggregator_events_total [1-9]");
        aggregator.destroy();
        assertThat(aggregator.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(aggregator.exitValue()).as(read("aggregator.log")).isZero();
    }

    /** Runs the page's authentication as its document describes it. */
    private void aTokenOfKubernetesOpensThePage(String port) throws Exception {
        plane.kubectl("create", "clusterrole", "page", "--verb=get", "--resource=nodehealths.gpuwarden.dev/page");
        plane.kubectl(
                "create", "clusterrolebinding", "page", "--clusterrole=page", "--serviceaccount=gpuwarden:gpuwarden");
        plane.kubectl("create", "serviceaccount", "stranger");
        assertThat(fromElsewhere(port, pageToken("stranger", "default")))
                .contains(" 401 ")
                .contains("system:serviceaccount:default:stranger may not get nodehealths.gpuwarden.dev/" + NODE);
        assertThat(fromElsewhere(port, pageToken("gpuwarden", "gpuwarden")))
                .contains(" 200 ")
                .contains("SysLogsXIDError");
    }

    private String pageToken(String account, String namespace) {
        return plane.kubectl(
                        "create",
                        "token",
                        account,
                        "--namespace=" + namespace,
                        "--audience=gpuwarden-page",
                        "--duration=10m")
                .strip();
    }

    /** Calls the page by another name than this machine's loopback, like another machine. */
    private static String fromElsewhere(String port, String token) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", Integer.parseInt(port))) {
            socket.getOutputStream()
                    .write(("GET /api/v1/faults HTTP/1.1\r\nHost: " + NODE
                                    + "\r\nConnection: close\r\nAuthorization: Bearer " + token + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    @Test
    void kubectlHasItAsAPlugIn() throws Exception {
        ProcessBuilder builder = new ProcessBuilder(
                        Binaries.ofUser().path("kubectl").toString(), "gpuwarden", "cordon", NODE, "--dry-run")
                .redirectErrorStream(true);
        builder.environment().put("PATH", image.home().resolve("bin") + ":" + System.getenv("PATH"));
        builder.environment().put("KUBECONFIG", plane.adminKubeconfig().toString());
        Process plugIn = builder.start();
        String said = new String(plugIn.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(plugIn.waitFor()).as(said).isZero();
        assertThat(said).contains(NODE + ": it takes no new pods", "dry run");
    }
}
