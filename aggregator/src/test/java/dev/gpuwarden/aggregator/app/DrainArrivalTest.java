package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of a pod that arrives on a node after its cordon. Its GPU is known only when its kubelet has accepted it. */
@Tag("api")
class DrainArrivalTest extends FaultyNodeFixture {

    private static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";

    @BeforeEach
    void run() {
        pods.run(bad, "comes", "", ", resources: {limits: {nvidia.com/gpu: 1}}", "");
        pods.status(
                "comes",
                "{\"phase\": \"Pending\", \"startTime\": null, \"conditions\": [], \"containerStatuses\": []}");
    }

    private void answer(KubeClient api, String id, List<GpuHolder> holders) throws Exception {
        Instant now = Instant.now();
        boolean kept = new GpuHolderRequests(api, NodeHealthCache.NONE, Clock.systemUTC())
                .answer(
                        bad,
                        id,
                        GpuHoldersJson.of(id, new Reading.Present<>(new GpuHolders(now, holders, List.of(), 0)), now));
        assertThat(kept).isTrue();
    }

    @Test
    void holdersAreRequestedAgainForAPodThatArrivesAfterTheAnswer() throws Exception {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.steer(
                        api,
                        "one",
                        true,
                        TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1)),
                        new CopyOnWriteArrayList<>())) {
            until(controllers::works, "it leads");
            fleet.report(
                    bad,
                    fleet.xid(bad)
                            .errorCodes(List.of("48"))
                            .action(RecommendedAction.COMPONENT_RESET)
                            .entities(List.of(Entity.gpu(GPU)))
                            .build());
            until(() -> !fleet.lookup(bad).isEmpty(), "the node is asked");
            String first = fleet.lookup(bad);
            answer(api, first, List.of());
            until(() -> drain().contains(pods.path("comes") + " came after the daemon answered"), "it is waited for");
            assertThat(pods.asked("comes")).isFalse();

            pods.status("comes", "{\"phase\": \"Running\", \"startTime\": \"" + Instant.now() + "\"}");
            until(() -> !fleet.lookup(bad).equals(first), "the node is asked anew");
            assertThat(pods.asked("comes")).isFalse();
            answer(
                    api,
                    fleet.lookup(bad),
                    List.of(new GpuHolder(pods.namespace, "comes", "main", GPU, GpuHolder.Kind.EXCLUSIVE, GPU)));
            until(() -> pods.asked("comes"), "it holds that GPU");
        }
    }
}
