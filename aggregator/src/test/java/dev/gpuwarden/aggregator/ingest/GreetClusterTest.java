package dev.gpuwarden.aggregator.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The requests that the connect of a node costs, with a cache of the cluster. */
class GreetClusterTest extends IngestSetup {

    private Optional<String> uid = Optional.empty();
    private Optional<Map<String, Object>> health = Optional.empty();
    private FaultyApi between;
    private KubeClient api;
    private NodeHealthClient healths;

    @BeforeEach
    void between() throws Exception {
        between = parts.add(new FaultyApi(plane));
        api = api(between.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator")));
        healths = new NodeHealthClient(api, new NodeHealthCache() {
            @Override
            public Optional<String> nodeUid(String any) {
                return uid;
            }

            @Override
            public Optional<Map<String, Object>> health(String any) {
                return health;
            }

            @Override
            public Optional<String> healthVersion(String any) {
                return health.map(tree -> JsonTrees.text(JsonTrees.object(tree, "metadata"), "resourceVersion"));
            }

            @Override
            public void answered(Map<String, Object> any) {}
        });
    }

    private Optional<String> uid() {
        return Optional.of(plane.client().get("node/" + node, ".metadata.uid"));
    }

    @Test
    void missingNodeHealthIsCreatedWithThreeRequestsWithoutCache() throws Exception {
        StoredHealth held = healths.greet(node);
        assertThat(held.nodeUid()).isEqualTo(uid().orElseThrow());
        assertThat(between.count(ApiCall.any())).isEqualTo(3);
    }

    @Test
    void cacheSavesAllRequestsButTheCreation() throws Exception {
        uid = uid();
        StoredHealth held = healths.greet(node);
        assertThat(held.nodeUid()).isEqualTo(uid.orElseThrow());
        assertThat(health(".metadata.ownerReferences[0].uid")).isEqualTo(uid.orElseThrow());
        assertThat(between.count(ApiCall.any())).isEqualTo(1);

        health = Optional.of(api.get(NodeHealthClient.ALL.path(node)));
        assertThat(healths.greet(node)).isEqualTo(held);
        assertThat(between.count(ApiCall.any())).isEqualTo(2);
    }

    @Test
    void cachedChangeOfAnotherWriterCostsNoSecondWrite() throws Exception {
        uid = uid();
        StoredHealth greeted = healths.greet(node);
        plane.kubectl("annotate", "nodehealth", node, "another=writer");
        health = Optional.of(api.get(NodeHealthClient.ALL.path(node)));
        ReportedState state = new ReportedState(
                node,
                "",
                "1",
                TestFaults.SEEN,
                new StreamEpoch(TestFaults.SEEN, "a"),
                1,
                7,
                0,
                List.of(TestFaults.fault(node, "79")),
                ReportedGpus.NONE);
        long before = between.count(ApiCall.any());
        assertThat(healths.write(state, greeted).acknowledged()).isEqualTo(7);
        assertThat(between.count(ApiCall.any())).isEqualTo(before + 1);
    }

    @Test
    void cachedHealthOfAnotherNodeIsReadAgain() throws Exception {
        uid = uid();
        StoredHealth held = healths.greet(node);
        health = Optional.of(Map.of(
                "metadata",
                Map.of(
                        "resourceVersion",
                        "1",
                        "ownerReferences",
                        List.of(Map.of("kind", "Node", "name", node, "uid", "of-before")))));
        assertThat(healths.greet(node)).isEqualTo(held);
        assertThat(between.count(ApiCall.any())).isEqualTo(2);
    }
}
