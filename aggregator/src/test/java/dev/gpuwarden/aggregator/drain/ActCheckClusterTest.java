package dev.gpuwarden.aggregator.drain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.testkit.cluster.Binaries;
import dev.gpuwarden.testkit.cluster.ControlPlane;
import io.fabric8.kubernetes.client.Config;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The last check of a node, with a real API server and caches that receive no change. */
@Tag("api")
class ActCheckClusterTest {

    private static final String NODE = "released-after-the-decision";

    private final ControlPlane plane = plane();
    private final NodeCache cache = new NodeCache(Clock.systemUTC());

    private static ControlPlane plane() {
        Optional<String> missing = Binaries.ofUser().missing();
        assumeTrue(missing.isEmpty(), missing::orElseThrow);
        return ControlPlane.shared();
    }

    private void node() {
        String events =
                "[{\\\"agent\\\": \\\"a\\\", \\\"componentClass\\\": \\\"GPU\\\", \\\"checkName\\\": \\\"Xid\\\","
                        + " \\\"nodeName\\\": \\\"" + NODE
                        + "\\\", \\\"errorCode\\\": [\\\"79\\\"], \\\"recommendedAction\\\":"
                        + " \\\"RESTART_BM\\\"}]";
        plane.client().apply("""
                {apiVersion: v1, kind: Node, metadata: {name: %s, annotations: {%s: "%s"}}, spec: {unschedulable: true}}
                """.formatted(NODE, NodeAnnotations.EVENTS, events));
    }

    private void health(KubeClient api, Map<String, String> metadata) throws Exception {
        HealthEvent cause = HealthEvent.of("a", "GPU", "Xid")
                .nodeName(NODE)
                .errorCodes(List.of("79"))
                .fatal(true)
                .action(RecommendedAction.RESTART_BM)
                .metadata(metadata)
                .build();
        Fault fault = new Fault(cause.keys().get(0), cause, 1, Instant.now(), Instant.now(), 1);
        NodeHealthClient healths = new NodeHealthClient(api);
        StoredHealth seen = healths.read(NODE);
        StreamEpoch claim = StreamEpoch.next(seen.claim(), Instant.now(), "test");
        var unused = healths.write(
                new ReportedState(NODE, "boot", "1", Instant.now(), claim, 1, 1, 0, List.of(fault), ReportedGpus.NONE),
                seen);
    }

    @Test
    void podsStayWhereTheNodeOrItsFaultIsAnotherThanTheCachesHave() throws Exception {
        plane.client()
                .apply(Files.readString(Path.of(System.getProperty("gpuwarden.repository"))
                        .resolve("packaging/src/main/kubernetes/crds/nodehealths.gpuwarden.dev.yaml")));
        Config config = Config.fromKubeconfig(Files.readString(plane.adminKubeconfig()));
        config.setClientKeyAlgo("EC");
        try (KubeClient api = KubeClient.connect(config)) {
            node();
            CachedNode node = CachedNode.of(api.get(NodeCache.NODES.path(NODE)));
            health(api, Map.of());
            cache.healths().onUpsert(NODE, api.get(NodeHealthClient.ALL.path(NODE)));
            cache.nodes().onUpsert(NODE, api.get(NodeCache.NODES.path(NODE)));
            DrainReasons reasons = new DrainReasons(new ActCheck(api, cache, Clock.systemUTC()), cache, false);
            assertThat(reasons.again(node)).as("before the first decision").isEmpty();
            assertThat(reasons.decide(node).full()).isTrue();
            assertThat(reasons.again(node)).isPresent();

            health(api, Map.of(HealthEvent.OUTCOME, "pass"));
            Map<String, Object> held = api.get(NodeHealthClient.ALL.path(NODE));
            assertThat(reasons.isNew(NODE, held)).isTrue();
            cache.answered(held);
            assertThat(reasons.again(node)).as("the fault is held").isEmpty();

            health(api, Map.of());
            cache.answered(api.get(NodeHealthClient.ALL.path(NODE)));
            assertThat(reasons.again(node)).isPresent();
            plane.client().patch("node/" + NODE, "{\"spec\": {\"unschedulable\": null}}");
            assertThat(cache.node(NODE))
                    .as("no watch has delivered it")
                    .hasValueSatisfying(old -> assertThat(old.unschedulable()).isTrue());
            assertThat(reasons.again(node)).as("it takes pods").isEmpty();
        } finally {
            plane.client().deleteNow("node/" + NODE);
        }
    }
}
