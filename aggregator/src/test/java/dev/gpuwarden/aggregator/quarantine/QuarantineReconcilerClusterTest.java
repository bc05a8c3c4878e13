package dev.gpuwarden.aggregator.quarantine;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.Pool.Limit;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import io.fabric8.kubernetes.client.Config;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reconciler on a real API server, with the shipped resource definition and rules. */
@Tag("api")
class QuarantineReconcilerClusterTest {

    private static final Path MANIFESTS =
            Path.of(System.getProperty("gpuwarden.repository"), "packaging/src/main/kubernetes");

    private static ControlPlane plane;
    private static RuleEvaluator rules;

    private final FaultTable faults = new FaultTable();
    private final List<AuditRecord> audits = new ArrayList<>();
    private final BreakerPolicy policy = new BreakerPolicy(List.of(new Pool(
            "all", NodeSelector.parse("q-test"), Limit.percent(100), Duration.ofMinutes(5), Limit.percent(100))));
    private final PoolCounts pools = new PoolCounts(policy);
    private final CircuitBreaker breaker = new CircuitBreaker(policy, pools, Clock.systemUTC(), () -> {});
    private final NodeCache cache = new NodeCache(
            new NodeCache.Listener() {
                @Override
                public void node(String name, Optional<CachedNode> node, boolean ours) {
                    pools.node(name, node);
                }
            },
            Clock.systemUTC());
    private Runnable meanwhile = () -> {};
    private KubeClient api;
    private ResourceInformer nodes;

    @BeforeAll
    static void shippedRules() throws Exception {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        plane = ControlPlane.shared();
        plane.client().apply(Files.readString(MANIFESTS.resolve("crds/quarantinerulesets.gpuwarden.dev.yaml")));
        plane.client().delete("quarantinerulesets");
        plane.client().apply(Files.readString(MANIFESTS.resolve("quarantine-rules.yaml")));
        try (KubeClient reader = connect()) {
            Map<String, Object> list = reader.get("/apis/gpuwarden.dev/v1alpha1/quarantinerulesets");
            rules = RuleEvaluator.compile(JsonTrees.objects(list, "items").stream()
                    .map(QuarantineRuleSet::of)
                    .toList());
        }
        assertThat(rules.conditions()).hasSizeGreaterThanOrEqualTo(6);
    }

    private static KubeClient connect() throws IOException {
        Config config = Config.fromKubeconfig(Files.readString(plane.adminKubeconfig()));
        config.setClientKeyAlgo("EC");
        config.setWatchReconnectInterval(50);
        return KubeClient.connect(config);
    }

    @BeforeEach
    void start() throws IOException {
        api = connect();
        AtomicBoolean listed = new AtomicBoolean();
        nodes = api.informer(NodeCache.NODES, cache.nodes(), () -> listed.set(true));
        // The breaker counts the Nodes of the tests before, too.
        until(listed::get);
    }

    @AfterEach
    void end() {
        nodes.close();
        api.close();
    }

    private void node(String name) {
        plane.client().apply("""
                apiVersion: v1
                kind: Node
                metadata: {name: %s, labels: {zone: a, q-test: ""}}
                spec: {taints: [{key: dedicated, value: ml, effect: NoSchedule}]}
                """.formatted(name));
        until(() -> cache.node(name).isPresent());
        // The breaker counts it a moment later.
        until(() -> !breaker.evaluate(cache.node(name).orElseThrow()).reason().contains("is not known"));
    }

    private HealthEvent.Builder xid(String node) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName(node)
                .fatal(true)
                .message("fallen off the bus")
                .errorCodes(List.of("79"))
                .entities(List.of(new Entity("PCI", "0000:3b:00")));
    }

    private void report(HealthEvent.Builder event) {
        faults.apply(event.build(), 1, Instant.parse("2026-11-22T03:00:00Z"));
    }

    private Decision settle(String node) {
        return reconcile(FaultReport.trusted(node, faults.faults()), Optional.empty());
    }

    private Decision reconcile(FaultReport report, Optional<QuarantineReconciler.Refresh> refresh) {
        return reconcile(report, refresh, breaker);
    }

    private Decision reconcile(
            FaultReport report, Optional<QuarantineReconciler.Refresh> refresh, CircuitBreaker policy) {
        try {
            Consumer<AuditRecord> record = audit -> {
                audits.add(audit);
                meanwhile.run();
            };
            return new QuarantineReconciler(
                            api, cache, policy, false, Clock.systemUTC(), record, node -> Optional.empty())
                    .reconcile(report, refresh, rules, ActionMode.ARMED);
        } catch (ApiException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits until the cache has the Node's present version. */
    private void seen(String node) {
        String version = get(node, ".metadata.resourceVersion");
        until(() -> cache.node(node).orElseThrow().resourceVersion().equals(version));
    }

    private void cordon(String node) {
        plane.client().patch("node/" + node, "{\"spec\": {\"unschedulable\": true}}");
    }

    private void uncordon(String node) {
        plane.client().patch("node/" + node, "{\"spec\": {\"unschedulable\": null}}");
    }

    private String get(String node, String path) {
        return plane.client().get("node/" + node, path);
    }

    @Test
    void faultyNodeIsCordonedWithItsReasonAndReturns() {
        node("q-cordon");
        report(xid("q-cordon"));
        assertThat(settle("q-cordon")).isInstanceOf(Decision.Act.class);
        assertThat(get("q-cordon", ".spec.unschedulable")).isEqualTo("true");
        assertThat(get("q-cordon", ".metadata.annotations.gpuwarden\\.dev/quarantine-reason"))
                .startsWith(
                        "SysLogsXIDError 79 on PCI 0000:3b:00 since 2026-11-22T03:00:00Z: fallen off the bus. Rules")
                .contains("Rules: syslog-fatal.");
        assertThat(pools.census().get("all").out()).contains("q-cordon");
        assertThat(pools.census().get("all").letThrough()).containsKey("q-cordon");
        assertThat(get("q-cordon", ".metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state"))
                .isEqualTo("quarantined");
        assertThat(audits).hasSize(1);
        assertThat(settle("q-cordon")).isInstanceOf(Decision.Leave.class);

        report(xid("q-cordon").healthy(true).fatal(false));
        assertThat(settle("q-cordon")).isInstanceOf(Decision.Act.class);
        assertThat(get("q-cordon", ".spec.unschedulable")).isEmpty();
        assertThat(get("q-cordon", ".metadata.annotations.quarantineHealthEvent"))
                .isEmpty();
        assertThat(get("q-cordon", ".spec.taints[?(@.key==\"dedicated\")].value"))
                .isEqualTo("ml");
        assertThat(pools.census().get("all").out()).doesNotContain("q-cordon");
        assertThat(pools.census().get("all").letThrough())
                .as("it is counted for a while")
                .containsKey("q-cordon");
    }

    @Test
    void cordonOfAnAdministratorSurvivesAndAnUncordonHolds() {
        node("q-admin");
        cordon("q-admin");
        seen("q-admin");
        report(xid("q-admin"));
        settle("q-admin");
        report(xid("q-admin").healthy(true).fatal(false));
        settle("q-admin");
        assertThat(get("q-admin", ".spec.unschedulable")).isEqualTo("true");

        uncordon("q-admin");
        seen("q-admin");
        report(xid("q-admin"));
        settle("q-admin");
        uncordon("q-admin");
        seen("q-admin");
        settle("q-admin");
        settle("q-admin");
        assertThat(get("q-admin", ".spec.unschedulable")).isEmpty();
        assertThat(get("q-admin", ".metadata.annotations.quarantinedNodeUncordonedManually"))
                .isEqualTo("True");
    }

    @Test
    void decisionIsRepeatedAfterAConflictingWrite() {
        node("q-conflict");
        report(xid("q-conflict"));
        int[] times = {0};
        meanwhile = () -> {
            if (times[0]++ == 0) {
                plane.client().patch("node/q-conflict", """
                    {"spec": {"taints": [{"key": "dedicated", "value": "ml", "effect": "NoSchedule"},
                                         {"key": "others", "value": "1", "effect": "NoExecute"}]}}\
                    """);
                cordon("q-conflict");
            }
        };
        assertThat(settle("q-conflict")).isInstanceOf(Decision.Act.class);
        assertThat(times[0]).isEqualTo(2);
        assertThat(get("q-conflict", ".spec.taints[?(@.key==\"others\")].value"))
                .isEqualTo("1");
        assertThat(get("q-conflict", ".metadata.annotations.quarantineHealthEventCordonPreExisting"))
                .as("the second decision saw the cordon")
                .isEqualTo("True");
    }

    @Test
    void decisionRepeatedAfterAnUnrelatedWriteIsRecordedOnce() {
        node("q-again");
        report(xid("q-again"));
        meanwhile = () -> plane.kubectl("annotate", "node", "q-again", "example.com/note=1");
        assertThat(settle("q-again")).isInstanceOf(Decision.Act.class);
        assertThat(get("q-again", ".spec.unschedulable")).isEqualTo("true");
        assertThat(audits).hasSize(1);
    }

    @Test
    void missingNodeIsLeftAlone() {
        assertThat(settle("q-nowhere").reason()).isEqualTo("there is no Node q-nowhere");
    }

    @Test
    void staleReportOfARefusedNodeIsNotRefreshedAndTheNodeWaits() {
        node("q-refused");
        report(xid("q-refused"));
        BreakerPolicy none = new BreakerPolicy(List.of(new Pool(
                "all", NodeSelector.parse("q-test"), Limit.percent(0), Duration.ofMinutes(5), Limit.percent(0))));
        PoolCounts counts = new PoolCounts(none);
        counts.node("q-refused", cache.node("q-refused"));
        CircuitBreaker open = new CircuitBreaker(none, counts, Clock.systemUTC(), () -> {});
        Decision decision = reconcile(
                FaultReport.trusted("q-refused", faults.faults()),
                Optional.of(() -> {
                    throw new AssertionError("a refused node costs no request");
                }),
                open);
        assertThat(decision)
                .isInstanceOfSatisfying(
                        Decision.Leave.class,
                        leave -> assertThat(leave.refused()).isTrue());
        assertThat(open.waiting()).containsExactly("q-refused");
    }

    @Test
    void staleReportIsRefreshedOnceBeforeTheNodeIsWritten() {
        node("q-stale");
        FaultReport healthy = FaultReport.trusted("q-stale", List.of());
        report(xid("q-stale"));
        FaultReport faulty = FaultReport.trusted("q-stale", faults.faults());
        AtomicInteger refreshes = new AtomicInteger();
        reconcile(healthy, Optional.of(() -> {
            refreshes.incrementAndGet();
            return faulty;
        }));
        assertThat(refreshes).as("nothing to write").hasValue(0);
        reconcile(faulty, Optional.of(() -> {
            refreshes.incrementAndGet();
            return healthy;
        }));
        assertThat(refreshes).hasValue(1);
        assertThat(audits).as("the fault is over by now").isEmpty();
        reconcile(faulty, Optional.of(() -> {
            refreshes.incrementAndGet();
            return faulty;
        }));
        assertThat(refreshes).hasValue(2);
        assertThat(get("q-stale", ".spec.unschedulable")).isEqualTo("true");
        assertThat(audits).hasSize(1);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {match: {all: [{kind: Pod, expression: 'true'}]}, cordon: {shouldCordon: true}}             | Unsupported value
        {match: {all: [{kind: Node, expression: ''}]}, cordon: {shouldCordon: true}}                | at least 1
        {match: {all: []}, cordon: {shouldCordon: true}}                                            | expected a clause in all or any
        {match: {all: [{kind: Node, expression: 'true'}]}}                                          | expected something to do
        {match: {all: [{kind: Node, expression: 'true'}]}, cordon: {shouldCordon: false}}           | expected something to do
        {match: {all: [{kind: Node, expression: 'true'}]}, taint: {key: a, effect: Sometimes}}      | Unsupported value
        {match: {all: [{kind: Node, expression: 'true'}]}, taint: {key: 'a b', effect: NoExecute}}  | should match
        {match: {all: [{kind: Node, expression: 'true'}]}, label: {key: nvsentinel.dgxc.nvidia.com/managed, value: 'false'}} | leave a node alone
        {match: {all: [{kind: Node, expression: 'true'}]}, prority: 3, label: {key: a, value: b}}   | unknown field
        """)
    void theSchemaRefuses(String spec, String why) {
        assertThatThrownBy(() -> plane.client().create("""
            {apiVersion: gpuwarden.dev/v1alpha1, kind: QuarantineRuleSet, metadata: {name: refused}, spec: %s}
            """.formatted(spec))).hasMessageContaining(why);
    }
}
