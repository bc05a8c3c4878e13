package dev.gpuwarden.aggregator.app;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.Pool.Limit;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.testkit.cluster.ApiClient;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.Component;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A real API server with the shipped manifests, and nodes whose NodeHealths a test sets. The test before has left no objects
 * that an aggregator or an operator would see. Its last writes may still arrive, so names differ from test to test.
 */
public final class TestFleet implements AutoCloseable {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");
    /** A tenth of the times of the program, apart from those that a busy machine needs. */
    static final LeaderElector.Times ELECTION =
            new LeaderElector.Times(Duration.ofSeconds(4), Duration.ofSeconds(2), Duration.ofMillis(100));

    private static final AtomicInteger TESTS = new AtomicInteger();

    private static boolean prepared;

    final ControlPlane plane;
    final ApiClient client;
    private final boolean shared;
    private final int number = TESTS.incrementAndGet();
    private final KubeClient admin;
    private final NodeHealthClient healths;
    private final Map<String, FaultTable> faults = new HashMap<>();
    /** The GPUs that nodes report with their faults. */
    final Map<String, ReportedGpus> gpus = new HashMap<>();

    private long sequence;

    /** Returns a fleet on the API server of this process. Without an API server, the test is skipped. */
    public static TestFleet start() {
        assumeThere();
        return new TestFleet(ControlPlane.shared(), true);
    }

    /** Returns a fleet on an API server of its own, with controllers. */
    static TestFleet start(Path folder, Component... parts) {
        assumeThere(parts);
        return new TestFleet(ControlPlane.start(folder, parts), false);
    }

    private static void assumeThere(Component... parts) {
        Optional<String> missing = Binaries.ofUser().missing(parts);
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
    }

    private TestFleet(ControlPlane plane, boolean shared) {
        this.plane = plane;
        this.client = plane.client();
        this.shared = shared;
        if (!shared || !prepared) {
            for (String manifest : List.of(
                    "crds/gpuresets.janitor.dgxc.nvidia.com.yaml",
                    "crds/monitorpolicies.gpuwarden.dev.yaml",
                    "crds/nodehealths.gpuwarden.dev.yaml",
                    "crds/quarantinerulesets.gpuwarden.dev.yaml",
                    "crds/rebootnodes.janitor.dgxc.nvidia.com.yaml",
                    "crds/terminatenodes.janitor.dgxc.nvidia.com.yaml",
                    "gpuwarden-aggregator.yaml",
                    "components/quarantine-armed/rights.yaml",
                    "components/remediation-armed/janitor-rights.yaml",
                    "components/drain-armed/rights.yaml",
                    "components/drain-delete/rights.yaml",
                    "components/remediation-armed/rights.yaml")) {
                apply(manifest);
            }
            prepared |= shared;
        }
        if (shared) {
            Leftovers.remove(client);
        }
        apply("quarantine-rules.yaml");
        this.admin = connect(plane.adminKubeconfig());
        this.healths = new NodeHealthClient(admin);
    }

    /** Applies one of the shipped manifests. */
    void apply(String manifest) {
        client.apply(text(MANIFESTS.resolve(manifest)));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns a name that no other test has. */
    String named(String name) {
        return name + "-" + number;
    }

    private static KubeClient connect(Path kubeconfig) {
        return connect(text(kubeconfig));
    }

    private static KubeClient connect(String kubeconfig) {
        return KubeClient.connect(config(kubeconfig));
    }

    private static Config config(String kubeconfig) {
        Config config = Config.fromKubeconfig(kubeconfig);
        config.setClientKeyAlgo("EC");
        // The default is one second, doubled each time.
        config.setWatchReconnectInterval(50);
        return config;
    }

    /** Returns a client with exactly the rights of the aggregator. */
    public KubeClient asAggregator() {
        return as("gpuwarden-aggregator");
    }

    /** Returns a client with the rights of the aggregator on a machine with this clock. */
    KubeClient asAggregator(Clock own) {
        return KubeClient.connect(
                config(text(plane.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator")))),
                Duration.ofSeconds(10),
                own);
    }

    /** Returns a client with the rights of a ServiceAccount in the namespace gpuwarden. */
    KubeClient as(String account) {
        return connect(plane.kubeconfig(plane.token("gpuwarden", account)));
    }

    /** Returns a client with the rights of the shipped manifests without the components that arm the aggregator. */
    KubeClient asDryRun() {
        String subject = "subjects: [{kind: ServiceAccount, name: dry-run, namespace: gpuwarden}]";
        String role = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: gpuwarden-aggregator}";
        String binding =
                "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: %sBinding, metadata: {name: dry-run%s}, " + role
                        + ", " + subject + "}\n";
        client.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {name: dry-run, namespace: gpuwarden}}\n"
                + binding.formatted("ClusterRole", "", "ClusterRole")
                + binding.formatted("Role", ", namespace: gpuwarden", "Role")
                + binding.formatted("Role", ", namespace: default", "Role"));
        return connect(plane.kubeconfig(plane.token("gpuwarden", "dry-run")));
    }

    /** Returns a client with the rights of the aggregator, through a proxy that lets requests fail. */
    KubeClient asAggregator(FaultyApi through) {
        return connect(through.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator")));
    }

    /** Returns settings with all nodes in one pool. */
    public static QuarantineSettings settings(String identity, ActionMode mode, int percent) {
        return new QuarantineSettings(
                "gpuwarden",
                identity,
                mode,
                List.of(new Pool(
                        "all",
                        NodeSelector.parse(""),
                        Limit.percent(percent),
                        Duration.ofMinutes(5),
                        Limit.percent(percent))),
                ELECTION,
                false);
    }

    void node(String name) {
        node(name, "zone");
    }

    /** @param label the label of the node */
    void node(String name, String label) {
        silentNode(name, label);
        faults.put(name, new FaultTable());
        write(name);
    }

    /** Creates a node without a report. */
    void silentNode(String name, String label) {
        client.apply("{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {%s: a}}}".formatted(name, label));
    }

    HealthEvent.Builder xid(String node) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName(node)
                .id("event-" + node)
                .fatal(true)
                .message("GPU has fallen off the bus")
                .errorCodes(List.of("79"))
                .entities(List.of(new Entity("PCI", "0000:3b:00")));
    }

    void fail(String node) {
        report(node, xid(node).build());
    }

    void heal(String node) {
        report(node, xid(node).fatal(false).healthy(true).build());
    }

    void report(String node, HealthEvent event) {
        faults.get(node).apply(event, ++sequence, Instant.now());
        write(node);
    }

    /** Writes an event of a monitor of the whole cluster. The node needs no report. */
    void monitored(String node, HealthEvent event) {
        try {
            healths.report(node, "monitor", List.of(event), Instant.now());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the GPUs that its faults name: a node reports more, but tests need no other. */
    private ReportedGpus atFault(String node) {
        return TestGpus.ofUnknownUnits(faults.get(node).faults().stream()
                .map(fault -> fault.key().entity())
                .filter(entity -> entity.type().equals(Entity.GPU_UUID))
                .map(Entity::value)
                .distinct()
                .toArray(String[]::new));
    }

    private void write(String node) {
        try {
            StoredHealth seen = healths.read(node);
            StreamEpoch claim = StreamEpoch.next(seen.claim(), Instant.now(), "test");
            var unused = healths.write(
                    new ReportedState(
                            node,
                            "boot",
                            "1",
                            Instant.now(),
                            claim,
                            1,
                            sequence,
                            0,
                            faults.get(node).faults(),
                            gpus.getOrDefault(node, atFault(node))),
                    seen);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    String get(String node, String path) {
        return client.get("node/" + node, path);
    }

    /** Returns the id of the lookup that the node must answer; empty if there is none. */
    String lookup(String node) {
        return client.get("nodehealth/" + node, ".spec.lookup.id");
    }

    public boolean cordoned(String node) {
        return get(node, ".spec.unschedulable").equals("true");
    }

    /** Cordons the node like an operator. */
    void cordon(String node) {
        client.patch("node/" + node, "{\"spec\": {\"unschedulable\": true}}");
    }

    void uncordon(String node) {
        client.patch("node/" + node, "{\"spec\": {\"unschedulable\": null}}");
    }

    /** Returns the status of the condition for the fault that {@link #fail} raises. */
    String condition(String node) {
        return get(node, ".status.conditions[?(@.type==\"SysLogsXIDError\")].status");
    }

    /** Returns the reasons of its Events, sorted, each as often as it occurs. */
    List<String> eventReasons(String node) {
        String reasons = client.get("events/default?fieldSelector=involvedObject.name%3D" + node, ".items[*].reason");
        return Stream.of(reasons.split(" ")).sorted().toList();
    }

    @Override
    public void close() {
        admin.close();
        if (!shared) {
            plane.close();
        }
    }
}
