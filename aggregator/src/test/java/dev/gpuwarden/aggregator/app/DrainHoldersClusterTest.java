package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
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

    /** An answer with the process of a pod that requests no GPU. */
    private static void answerOpen(String node) throws Exception {
        answer(
                node,
                new Reading.Present<>(new GpuHolders(Instant.now(), List.of(), List.of(), 0)
                        .with(List.of(
                                new ProcessHolder(node, "open", "main", OTHER),
                                new ProcessHolder(node, "holds", "main", GPU)))));
    }

    @Test
    void podsOfTheWholeResetUnitAndThoseOfProcessesLeave() throws Exception {
        fleet.gpus.put("paired", TestGpus.units(List.of(GPU, OTHER)));
        TestPods pods = pods("paired");
        runWithGpu(pods, "paired", "holds", GPU);
        runWithGpu(pods, "paired", "other", OTHER);
        pods.run("paired", "open", OWNED, "");
        String unit = GPU + " can only be reset together with " + OTHER;

        Running dry = drain("paired", "--gpu", GPU, "--dry-run");
        assertThat(dry.end()).as(dry.out().toString()).isZero();
        assertThat(dry.tree()).containsEntry("added", List.of(OTHER));
        assertThat(dry.states()).containsEntry("other", "evict").containsEntry("open", "left");
        assertThat(dry.out().toString()).contains(unit, "not listed: a dry run does not ask its daemon");
        assertThat(pods.untouched()).hasSize(3);

        Running drain = drain("paired", "--gpu", GPU);
        until(() -> !fleet.lookup("paired").isEmpty(), "the node is asked, also with complete pod status");
        assertThat(drain.err().toString()).contains(unit);
        String asked = fleet.lookup("paired");
        answerOpen("paired");
        drain.awaitMessage("paired/holds: evicted");
        drain.awaitMessage("paired/other: evicted");
        pods.end("holds");
        pods.end("other");
        assertThat(drain.end()).as("an operator must end the third").isEqualTo(1);
        assertThat(drain.states()).containsEntry("open", "stays").containsEntry("other", "gone");
        assertThat(drain.out().toString())
                .contains("a process of it has " + OTHER + " open without a request (--processes=evict)");

        Running evict = drain("paired", "--gpu", GPU, "--processes", "evict");
        until(() -> !fleet.lookup("paired").equals(asked), "the node is asked again");
        answerOpen("paired");
        evict.awaitMessage("paired/open: evicted");
        pods.end("open");
        assertThat(evict.end()).as(evict.err().toString()).isZero();
    }

    private static SortedSet<String> sorted(String uuid) {
        return new TreeSet<>(Set.of(uuid));
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
