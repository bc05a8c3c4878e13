package dev.gpuwarden.daemon.kube;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.daemon.kube.KubernetesOptions.Part;
import dev.gpuwarden.daemon.sink.Forwarder;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node's writers against a real API server, with the rights of the shipped manifests and no more. */
@Tag("api")
@Timeout(600)
abstract class ClusterFixture {

    static final AtomicInteger NODES = new AtomicInteger();
    static final String XID = "SysLogsXIDError";

    @TempDir
    Path folder;

    final String node = "gpu-" + NODES.incrementAndGet();
    ControlPlane plane;
    Path kubeconfig;
    EventStore store;
    KubernetesNode kubernetes;
    Forwarder events;
    NodeReconciler writer;
    volatile boolean complete = true;

    @BeforeEach
    void join() {
        plane = TestCluster.get();
        TestCluster.node(plane, node);
        kubeconfig = plane.kubeconfig(TestCluster.token(plane, node));
    }

    KubernetesOptions options() {
        KubernetesOptions options = new KubernetesOptions();
        options.write = List.of(Part.conditions, Part.events, Part.labels);
        options.kubeconfig = kubeconfig;
        return options;
    }

    void start() {
        start(options(), NodeReconciler.READ_INTERVAL);
    }

    /** Starts the writers like the daemon does. */
    void start(KubernetesOptions options, Duration readInterval) {
        store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
        kubernetes = options.connect(node, false, false).orElseThrow();
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
                readInterval);
        NodeReconciler reconciler = writer;
        var unused = store.listen(change -> reconciler.wake());
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

    void accept(HealthEvent.Builder event) {
        var unused = store.accept(event.nodeName(node).build());
    }

    String condition(String type) {
        return TestCluster.condition(plane, node, type);
    }

    String eventLines() {
        return TestCluster.events(plane, node);
    }

    KubeStats stats(ApiRequest.Kind kind) {
        return kubernetes.stats().getOrDefault(kind.name(), new KubeStats(0, 0, 0, "", java.util.Optional.empty()));
    }
}
