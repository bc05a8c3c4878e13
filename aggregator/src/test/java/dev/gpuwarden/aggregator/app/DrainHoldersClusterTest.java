package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests which pods `gpuwarden drain` evicts if it names GPUs. */
@Tag("api")
class DrainHoldersClusterTest extends DrainCommandFixture {

    @Test
    void onlyTheHolderOfTheGpuIsEvicted() throws Exception {
        TestPods pods = pods("listed");
        runWithGpu(pods, "listed", "holds", GPU);
        runWithGpu(pods, "listed", "other", OTHER);
        pods.run("listed", "none", OWNED, "");
        kubeconfig = person("without-daemons", "nodehealths");
        Running drain = drain("listed", "--gpu", GPU.toUpperCase(java.util.Locale.ROOT));
        drain.awaitMessage("listed/holds: evicted");
        pods.end("holds");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(drain.tree()).containsEntry("gpus", List.of(GPU));
        assertThat(pods.untouched()).containsExactly("none", "other");
        assertThat(fleet.lookup("listed")).as("no lookup was needed").isEmpty();
    }

    @Test
    void holdersAreRequestedFromTheDaemonIfPodStatusLacksThem() throws Exception {
        TestPods pods = pods("asked");
        runWithGpu(pods, "asked", "holds", "");
        runWithGpu(pods, "asked", "other", "");
        kubeconfig = person("person", "");
        Running drain = drain("asked", "--gpu", GPU);
        drain.awaitMessage("its daemon is asked which pods hold its GPUs");
        until(() -> !fleet.lookup("asked").isEmpty(), "the node is asked");
        assertThat(fleet.cordoned("asked")).as("after the cordon").isTrue();
        assertThat(pods.untouched()).containsExactly("holds", "other");
        answer(
                "asked",
                new Reading.Present<>(new GpuHolders(
                        Instant.now(),
                        List.of(new GpuHolder("asked", "holds", "main", GPU, GpuHolder.Kind.EXCLUSIVE, GPU)),
                        List.of(),
                        0)));
        drain.awaitMessage("asked/holds: evicted");
        pods.end("holds");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(pods.untouched()).containsExactly("other");
    }

    private static void answer(String node, Reading<GpuHolders> holders) throws Exception {
        try (KubeClient api = fleet.asAggregator()) {
            assertThat(new GpuHolderRequests(api, NodeHealthCache.NONE, Clock.systemUTC())
                            .answer(
                                    node,
                                    fleet.lookup(node),
                                    GpuHoldersJson.of(fleet.lookup(node), holders, Instant.now())))
                    .isTrue();
        }
    }

    @Test
    void noPodIsEvictedIfHoldersAreUnknown() throws Exception {
        fleet.silentNode("mute", "zone");
        TestPods pods = new TestPods(fleet, "mute");
        runWithGpu(pods, "mute", "one", "");
        Running silent = drain("mute", "--gpu", GPU);
        assertThat(silent.end()).isEqualTo(3);
        assertThat(silent.tree()).containsEntry("outcome", "undecided");
        assertThat(silent.out().toString())
                .contains("does not name its GPUs", "no daemon that reports", "without --gpu all pods");

        TestPods broken = pods("broken");
        runWithGpu(broken, "broken", "one", "");
        Running drain = drain("broken", "--gpu", GPU);
        for (String asked = ""; !drain.code().isDone(); ) {
            String before = asked;
            until(() -> drain.code().isDone() || !fleet.lookup("broken").equals(before), "it is asked");
            asked = fleet.lookup("broken");
            if (!drain.code().isDone()) {
                answer("broken", Reading.absent(Absence.FAILED, 0, "the kubelet does not answer"));
            }
            String answered = asked;
            until(() -> drain.code().isDone() || !fleet.lookup("broken").equals(answered), "it is asked again");
        }
        assertThat(drain.end()).isEqualTo(3);
        assertThat(drain.out().toString()).contains("the kubelet does not answer");
        assertThat(pods.untouched()).containsExactly("one");
        assertThat(broken.untouched()).containsExactly("one");
    }
}
