package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of drains of one GPU: the pods that hold it leave, by each source that names them. */
@Tag("api")
class PartialDrainClusterTest extends DrainFixture {

    private HealthEvent reset(String... gpus) {
        return fleet.xid(bad)
                .errorCodes(List.of("48"))
                .action(RecommendedAction.COMPONENT_RESET)
                // A message of the kernel, and characters that JSON can encode in several ways.
                .message("pid='<unknown>' & \"name\" \\ ü\n\u2028")
                .entities(Stream.of(gpus).map(Entity::gpu).toList())
                .build();
    }

    @Test
    void onlyTheHolderOfTheGpuIsEvictedAndLaterAllPods() {
        runWithGpu("holds", "GPU-1");
        runWithGpu("other", "GPU-2");
        runWithGpu("third", "GPU-3");
        pods.run(bad, "none");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = steer(api, true, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            until(controllers::works, "it leads");
            fleet.report(bad, reset("GPU-1"));
            until(() -> pods.asked("holds"), "the one that holds it is evicted");
            pods.end("holds");
            until(() -> state().equals("drain-succeeded"), "it is drained of that GPU");
            assertThat(pods.untouched()).containsExactly("none", "other", "third");

            fleet.fail(bad);
            until(() -> pods.untouched().isEmpty(), "a fault of the whole node drains them all");
            assertThat(state()).isEqualTo("draining");
            assertThat(audits.stream().filter(audit -> audit.decision().equals("evict")))
                    .as("none is asked twice")
                    .hasSize(4);
        }
    }

    @Test
    void holdersAreRequestedFromTheNodeIfPodStatusLacksThem() throws Exception {
        String gpu = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
        runWithGpu("holds", "");
        runWithGpu("other", "");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = steer(api, true, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            until(controllers::works, "it leads");
            fleet.report(bad, reset(gpu));
            until(() -> !fleet.lookup(bad).isEmpty(), "the node is asked");
            assertThat(pods.untouched()).containsExactly("holds", "other");
            // The test writes the daemon's answer like the replica that the node reports to.
            GpuHolder holder = new GpuHolder(pods.namespace, "holds", "main", gpu, GpuHolder.Kind.EXCLUSIVE, gpu);
            Map<String, Object> answer = GpuHoldersJson.of(
                    fleet.lookup(bad),
                    new Reading.Present<>(new GpuHolders(Instant.now(), List.of(holder), List.of(), 0)),
                    Instant.now());
            assertThat(new GpuHolderRequests(api, NodeHealthCache.NONE, Clock.systemUTC())
                            .answer(bad, fleet.lookup(bad), answer))
                    .isTrue();
            until(() -> pods.asked("holds"), "the one that holds it is evicted");
            pods.end("holds");
            until(() -> state().equals("drain-succeeded"), "it is drained of that GPU");
            assertThat(pods.untouched()).containsExactly("other");
        }
    }

    @Test
    void podThatHoldsTheGpuByAProcessLeavesToo() throws Exception {
        String gpu = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
        runWithGpu("holds", gpu);
        List.of("squats", "none").forEach(name -> pods.run(bad, name));
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.evictingProcesses(api, audits)) {
            until(controllers::works, "it leads");
            fleet.report(bad, reset(gpu));
            until(() -> !fleet.lookup(bad).isEmpty(), "the node is asked though the pods' status is complete");
            GpuHolders holders = new GpuHolders(Instant.now(), List.of(), List.of(), 0)
                    .with(List.of(
                            new ProcessHolder(pods.namespace, "squats", "main", gpu),
                            new ProcessHolder(pods.namespace, "none", "main", gpu.replace('4', '5'))));
            assertThat(new GpuHolderRequests(api, NodeHealthCache.NONE, Clock.systemUTC())
                            .answer(
                                    bad,
                                    fleet.lookup(bad),
                                    GpuHoldersJson.of(
                                            fleet.lookup(bad), new Reading.Present<>(holders), Instant.now())))
                    .isTrue();
            until(() -> pods.asked("holds") && pods.asked("squats"), "both are evicted");
            assertThat(pods.untouched()).containsExactly("none");
        }
    }

    @Test
    void allPodsAreEvictedIfOneHasAnUnknownGpuAndItIsReported() {
        runWithGpu("holds", "GPU-1");
        runWithGpu("mute", "");
        pods.run(bad, "none");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = steer(api, true, TestPods.policies(DrainMode.IMMEDIATE, AN_HOUR))) {
            until(controllers::works, "it leads");
            fleet.report(bad, reset("GPU-1"));
            until(() -> pods.untouched().isEmpty(), "all are evicted");
            assertThat(drain())
                    .contains("does not name its GPUs", pods.path("mute"), "daemon has not answered within 1s500ms");
            assertThat(audits).anyMatch(audit -> audit.reason().contains(pods.path("mute")));
        }
    }
}
