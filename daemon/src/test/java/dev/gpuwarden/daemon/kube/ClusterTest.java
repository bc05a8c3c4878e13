package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Told;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.daemon.kube.KubernetesOptions.Part;
import dev.gpuwarden.daemon.sink.Forwarder;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.Relay;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node's state against a real API server, with the rights of the shipped manifests and no more. */
@Tag("api")
@Timeout(600)
class ClusterTest {

    private static final AtomicInteger NODES = new AtomicInteger();
    private static final String XID = "SysLogsXIDError";

    @TempDir
    Path folder;

    private final String node = "gpu-" + NODES.incrementAndGet();
    private ControlPlane plane;
    private Path kubeconfig;
    private EventStore store;
    private KubernetesNode kubernetes;
    private Forwarder events;
    private NodeReconciler writer;
    private volatile boolean complete = true;

    @BeforeEach
    void join() {
        plane = TestCluster.get();
        TestCluster.node(plane, node);
        kubeconfig = plane.kubeconfig(TestCluster.token(plane, node));
    }

    private KubernetesOptions options() {
        KubernetesOptions options = new KubernetesOptions();
        options.write = List.of(Part.conditions, Part.events, Part.labels);
        options.kubeconfig = kubeconfig;
        return options;
    }

    private void start() {
        start(options(), NodeReconciler.READ_INTERVAL);
    }

    /** Starts the writers like the daemon does. */
    private void start(KubernetesOptions options, Duration lookAgain) {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
        kubernetes = options.connect(node, false).orElseThrow();
        events = kubernetes.startEvents(store, store).orElse(null);
        EventStore open = store;
        writer = kubernetes.start(
                new NodeReconciler.NodeStatusSource() {
                    @Override
                    public List<Fault> faults() {
                        return open.faults();
                    }

                    @Override
                    public List<CheckResult> results() {
                        Finding well = Finding.pass("answers", Subject.NODE, "it answers");
                        return List.of(CheckResult.of(
                                CheckInfo.of("gpu-state", "GPU", "Asks."),
                                Instant.now(),
                                Duration.ZERO,
                                List.of(well)));
                    }

                    @Override
                    public boolean complete() {
                        return complete;
                    }
                },
                lookAgain);
        NodeReconciler rung = writer;
        var unused = store.listen(told -> rung.look());
    }

    @AfterEach
    void stop() {
        if (writer != null) {
            writer.close();
            if (events != null) {
                events.close();
            }
            store.close();
            kubernetes.close();
            writer = null;
        }
    }

    private void accept(HealthEvent.Builder event) {
        var unused = store.accept(event.nodeName(node).build());
    }

    private String condition(String type) {
        return TestCluster.condition(plane, node, type);
    }

    private String told() {
        return TestCluster.events(plane, node);
    }

    private KubeStats stats(ApiRequest.Kind kind) {
        return kubernetes.stats().getOrDefault(kind.name(), new KubeStats(0, 0, 0, "", java.util.Optional.empty()));
    }

    @Test
    void aFaultSetsAndClearsConditionEventAndLabelAndLeavesOthersAlone() {
        start();
        until(() -> TestCluster.label(plane, node).equals("PASS"));
        assertThat(condition(XID)).as("what never was is not called well").isEmpty();
        accept(Told.xid79("0000:3b:00"));
        until(() -> condition(XID)
                .equals("True SysLogsXIDErrorIsNotHealthy ErrorCode:79 PCI:0000:3b:00 GPU_UUID:GPU-0000:3b:00"
                        + " fell off the bus Recommended Action=RESTART_BM;"));
        until(() -> TestCluster.label(plane, node).equals("EVICT"));
        until(() -> told().equals("Warning SysLogsXIDErrorIsNotHealthy 1\n"));
        assertThat(plane.kubectl("describe", "node", node))
                .containsPattern("SysLogsXIDError +True ")
                .containsPattern("Warning +SysLogsXIDErrorIsNotHealthy .* gpuwarden +ErrorCode:79 PCI:0000:3b:00");
        accept(Told.xid79("0000:3b:00").fatal(false).healthy(true).message("replaced"));
        until(() -> condition(XID).equals("False SysLogsXIDErrorIsHealthy No Health Failures"));
        until(() -> told().equals("Warning SysLogsXIDErrorIsNotHealthy 1\nNormal SysLogsXIDErrorIsHealthy 1\n"));
        until(() -> TestCluster.label(plane, node).equals("PASS"));
        assertThat(condition("Ready")).isEqualTo("True KubeletReady ");
        assertThat(condition("KernelDeadlock")).isEqualTo("False KernelHasNoDeadlock ");
        assertThat(plane.client().get("node/" + node, ".metadata.labels.zone")).isEqualTo("a");
    }

    @Test
    void aFaultThatIsNotFatalIsAnEventAndNoCondition() {
        start();
        accept(Told.xid79("0000:3b:00").fatal(false));
        until(() -> told().equals("SysLogsXIDError SysLogsXIDErrorIsNotHealthy 1\n"));
        until(() -> TestCluster.label(plane, node).equals("WARN"));
        assertThat(condition(XID)).isEmpty();
    }

    @Test
    void aCheckThatIsCalledReadyDoesNotMakeTheNodeUnready() {
        start();
        accept(Told.fatal("Ready").message("I say so"));
        until(() -> condition("gpuwarden.dev/Ready").startsWith("True ReadyIsNotHealthy Check:Ready I say so"));
        assertThat(condition("Ready")).isEqualTo("True KubeletReady ");
    }

    @Test
    void aRestartWritesOnlyConditionsThatChangedWhileItWasDown() {
        start();
        accept(Told.xid79("0000:3b:00"));
        accept(Told.fatal("Other"));
        until(() -> condition(XID).startsWith("True") && condition("Other").startsWith("True"));
        until(() -> told().lines().count() == 2);
        until(() -> TestCluster.label(plane, node).equals("EVICT"));
        stop();
        String transition = ".status.conditions[?(@.type==\"" + XID + "\")].lastTransitionTime";
        String since = plane.client().get("node/" + node, transition);
        complete = false;
        start();
        until(() -> stats(ApiRequest.Kind.read).ok() == 1);
        accept(Told.fatal("Other").fatal(false).healthy(true));
        until(() -> told().lines().count() == 3);
        assertThat(condition("Other")).as("not before all checks have looked").startsWith("True");
        assertThat(stats(ApiRequest.Kind.conditions).ok()).isZero();
        complete = true;
        writer.look();
        until(() -> condition("Other").startsWith("False"));
        until(() -> stats(ApiRequest.Kind.conditions).ok() == 1);
        assertThat(stats(ApiRequest.Kind.labels).ok()).isZero();
        assertThat(condition(XID)).startsWith("True");
        assertThat(plane.client().get("node/" + node, transition)).isEqualTo(since);
        assertThat(told().lines().count()).isEqualTo(3);
        assertThat(stats(ApiRequest.Kind.conditions).ok()).isEqualTo(1);
    }

    @Test
    void removedConditionsAndLabelsAreWrittenAgain() {
        start(options(), Duration.ofSeconds(1));
        accept(Told.xid79("0000:3b:00"));
        until(() -> condition(XID).startsWith("True")
                && TestCluster.label(plane, node).equals("EVICT"));
        String without = "{\"status\":{\"conditions\":[{\"$patch\":\"delete\",\"type\":\"" + XID + "\"}]}}";
        var patched = plane.kubectl("patch", "node", node, "--subresource=status", "--patch", without);
        plane.client().patch("node/" + node, "{\"metadata\":{\"labels\":{\"autopilot.ibm.com/gpuhealth\":\"PASS\"}}}");
        until(() -> condition(XID).startsWith("True")
                && TestCluster.label(plane, node).equals("EVICT"));
        assertThat(patched).contains("patched");
    }

    @Test
    void aServerThatIsAwayLosesNothing() throws IOException {
        try (Relay relay = new Relay(URI.create(plane.url()).getPort())) {
            String direct = Files.readString(kubeconfig);
            Files.writeString(kubeconfig, direct.replace(plane.url(), "https://127.0.0.1:" + relay.port()));
            start();
            // Not by the label there: its answer may be on the way still, and would be what fails.
            until(() -> stats(ApiRequest.Kind.labels).ok() == 1);
            relay.away();
            accept(Told.xid79("0000:3b:00"));
            accept(Told.fatal("Other"));
            accept(Told.fatal("Other").fatal(false).healthy(true));
            until(() -> stats(ApiRequest.Kind.conditions).failed() > 0
                    && events.stats().failures() > 0);
            assertThat(stats(ApiRequest.Kind.conditions).lastError()).contains("cannot be asked");
            relay.back();
            until(() -> condition(XID).startsWith("True"));
            until(() -> told().lines().count() == 3);
            until(() -> TestCluster.label(plane, node).equals("EVICT"));
            assertThat(condition("Other"))
                    .as("it came and went while nobody looked")
                    .isEmpty();
            until(() -> store.lag("kubernetes").waiting() == 0);
        }
    }

    @Test
    void aFailureThatNoLongerMattersIsNoTroubleAnyMore() throws IOException {
        try (Relay relay = new Relay(URI.create(plane.url()).getPort())) {
            String direct = Files.readString(kubeconfig);
            Files.writeString(kubeconfig, direct.replace(plane.url(), "https://127.0.0.1:" + relay.port()));
            start();
            // Not by the label there: its answer may be on the way still, and would be what fails.
            until(() -> stats(ApiRequest.Kind.labels).ok() == 1);
            relay.away();
            accept(Told.xid79("0000:3b:00"));
            until(() -> stats(ApiRequest.Kind.conditions).failed() == 1
                    && kubernetes.trouble().isPresent());
            accept(Told.xid79("0000:3b:00").fatal(false).healthy(true));
            relay.back();
            until(() -> kubernetes.trouble().isEmpty());
            assertThat(stats(ApiRequest.Kind.conditions).ok())
                    .as("nothing to write")
                    .isZero();
        }
    }

    @Test
    void anEventThatWasSentAndNotNotedIsNotSentTwice() throws Exception {
        start();
        accept(Told.xid79("0000:3b:00"));
        until(() -> told().equals("Warning SysLogsXIDErrorIsNotHealthy 1\n"));
        KubeClient client = new KubeClient(Kubeconfig.read(kubeconfig), false, Clock.systemUTC(), new KubeCounters());
        EventSink sink = new EventSink(node, false, client, new EventRepeats());
        var stored = store.events(dev.gpuwarden.core.event.EventFilter.all());
        sink.send(stored);
        assertThat(told()).isEqualTo("Warning SysLogsXIDErrorIsNotHealthy 1\n");
        client.close();
    }

    @Test
    void repetitionsAreCountedOnTheSameEvent() {
        start();
        accept(Told.xid79("0000:3b:00"));
        until(() -> events.stats().sent() == 1);
        accept(Told.xid79("0000:3b:00"));
        until(() -> told().equals("Warning SysLogsXIDErrorIsNotHealthy 2\n"));
        assertThat(stats(ApiRequest.Kind.events).refused()).isZero();
    }

    @Test
    void errorsNameTheMissingRightsAndTheirManifest() {
        plane.client().apply("""
                apiVersion: v1
                kind: ServiceAccount
                metadata: {name: nobody, namespace: default}
                """);
        kubeconfig = plane.kubeconfig(plane.token("default", "nobody"));
        start();
        accept(Told.xid79("0000:3b:00"));
        until(() -> stats(ApiRequest.Kind.read).refused() > 0
                && stats(ApiRequest.Kind.events).refused() > 0);
        assertThat(stats(ApiRequest.Kind.read).lastError())
                .contains("403", "system:serviceaccount:default:nobody", "cannot get resource \"nodes\"")
                .contains("gpuwarden-node.yaml");
        assertThat(stats(ApiRequest.Kind.events).lastError())
                .contains("cannot create resource \"events\"", "gpuwarden-node.yaml");
    }

    @Test
    void anotherNodesObjectIsRefusedByThePolicy() {
        TestCluster.node(plane, node + "-other");
        KubernetesOptions options = options();
        options.node = node + "-other";
        start(options, NodeReconciler.READ_INTERVAL);
        accept(Told.xid79("0000:3b:00"));
        until(() -> stats(ApiRequest.Kind.conditions).refused() > 0
                && stats(ApiRequest.Kind.events).refused() > 0);
        assertThat(stats(ApiRequest.Kind.conditions).lastError())
                .contains("this token is of a pod on " + node + ", not on " + node + "-other")
                .endsWith("this daemon may write on its own Node alone (--kubernetes.node)");
        assertThat(stats(ApiRequest.Kind.events).lastError()).contains("this token is of a pod on " + node);
        assertThat(TestCluster.condition(plane, node + "-other", XID)).isEmpty();
    }

    @Test
    void onItsOwnNodeThePolicyAllowsConditionsAndLabelsOfHealthAlone() {
        for (String forbidden : List.of(
                "{\"metadata\":{\"labels\":{\"zone\":\"b\"}}}",
                "{\"metadata\":{\"labels\":{\"zone\":null}}}",
                "{\"metadata\":{\"annotations\":{\"a\":\"b\"}}}",
                "{\"metadata\":{\"finalizers\":[\"example.com/stays\"]}}",
                "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"name\":\"p\",\"uid\":\"u\"}]}}",
                "{\"spec\":{\"unschedulable\":true}}",
                "{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoExecute\"}]}}")) {
            assertThat(ask(patch("", "merge", forbidden))).as(forbidden).contains("ValidatingAdmissionPolicy");
        }
        for (String forbidden : List.of(
                "{\"status\":{\"capacity\":{\"nvidia.com/gpu\":\"9\"}}}",
                "{\"status\":{\"daemonEndpoints\":{\"kubeletEndpoint\":{\"Port\":1}}}}",
                "{\"status\":{\"nodeInfo\":{\"kubeletVersion\":\"v9\"}}}",
                "{\"status\":{\"images\":[{\"names\":[\"x\"]}]}}",
                "{\"status\":{\"volumesAttached\":[{\"name\":\"v\",\"devicePath\":\"p\"}]}}",
                "{\"status\":{\"phase\":\"Terminated\"}}",
                "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\"}]}}",
                "{\"metadata\":{\"labels\":{\"zone\":\"b\"}}}")) {
            assertThat(ask(patch("/status", "strategic-merge", forbidden)))
                    .as(forbidden)
                    .contains("ValidatingAdmissionPolicy");
        }
        String own = "{\"status\":{\"conditions\":[{\"type\":\"Mine\",\"status\":\"False\"}]}}";
        assertThat(ask(patch("/status", "strategic-merge", own))).isEmpty();
        String label = "{\"metadata\":{\"labels\":{\"autopilot.ibm.com/gpuhealth\":\"PASS\"}}}";
        assertThat(ask(patch("", "merge", label))).isEmpty();
    }

    private ApiRequest patch(String below, String kind, String body) {
        return new ApiRequest(
                ApiRequest.Kind.conditions,
                "PATCH",
                "/api/v1/nodes/" + node + below + "?fieldManager=x",
                "application/" + kind + "-patch+json",
                body);
    }

    /** The error; empty if there is none. */
    private String ask(ApiRequest request) {
        try (KubeClient client =
                new KubeClient(Kubeconfig.read(kubeconfig), false, Clock.systemUTC(), new KubeCounters())) {
            return client.ask(request).isPresent() ? "" : "conflict";
        } catch (KubeException e) {
            return String.valueOf(e.getMessage());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aTokenThatComesLaterIsFound() throws IOException {
        String token = TestCluster.token(plane, node);
        Path file = folder.resolve("token");
        Files.writeString(kubeconfig, Files.readString(kubeconfig).replaceAll("token: .*", "tokenFile: " + file));
        start();
        until(() -> stats(ApiRequest.Kind.read).lastError().contains(file + " cannot be read"));
        Files.writeString(file, token);
        until(() -> TestCluster.label(plane, node).equals("PASS"));
    }

    @Test
    void aNodeThatIsNotThereIsNamed() {
        KubernetesOptions options = options();
        options.node = "no-such-node";
        start(options, NodeReconciler.READ_INTERVAL);
        until(() -> stats(ApiRequest.Kind.read).refused() > 0);
        assertThat(stats(ApiRequest.Kind.read).lastError())
                .contains("nodes \"no-such-node\" not found")
                .endsWith("--kubernetes.node or NODE_NAME must be one of `kubectl get nodes`");
    }

    @Test
    void anotherAuthoritysServerIsNotTrusted() throws Exception {
        Path other = folder.resolve("other.crt");
        Process openssl = new ProcessBuilder(
                        "openssl",
                        "req",
                        "-x509",
                        "-nodes",
                        "-newkey",
                        "rsa:2048",
                        "-subj",
                        "/CN=other",
                        "-keyout",
                        folder.resolve("other.key").toString(),
                        "-out",
                        other.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("openssl.log").toFile())
                .start();
        assertThat(openssl.waitFor()).isZero();
        String text = Files.readString(kubeconfig)
                .replaceAll("certificate-authority-data: .*", "certificate-authority: " + other);
        Files.writeString(kubeconfig, text);
        start();
        until(() -> stats(ApiRequest.Kind.read).failed() > 0);
        assertThat(stats(ApiRequest.Kind.read).lastError())
                .contains("TLS: ", "unable to find valid certification path");
    }

    @Test
    void aDryRunChangesNothing() {
        String before = plane.client().get("node/" + node, ".metadata.resourceVersion");
        KubernetesOptions options = options();
        options.dryRun = true;
        start(options, Duration.ofMillis(100));
        accept(Told.xid79("0000:3b:00"));
        until(() -> stats(ApiRequest.Kind.conditions).ok() == 1
                && stats(ApiRequest.Kind.labels).ok() > 0
                && stats(ApiRequest.Kind.events).ok() == 1);
        writer.look();
        assertThat(told()).isEmpty();
        assertThat(plane.client().get("node/" + node, ".metadata.resourceVersion"))
                .isEqualTo(before);
        assertThat(stats(ApiRequest.Kind.conditions).ok()).isEqualTo(1);
    }

    @Test
    void anAdministratorsCertificateDoesToo() {
        kubeconfig = plane.adminKubeconfig();
        start();
        until(() -> TestCluster.label(plane, node).equals("PASS"));
        assertThat(kubernetes.stats()).containsOnlyKeys("labels", "read");
        assertThat(Map.of("up", stats(ApiRequest.Kind.labels).lastError())).containsEntry("up", "");
    }
}
