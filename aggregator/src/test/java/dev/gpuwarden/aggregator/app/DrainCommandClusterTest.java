package dev.gpuwarden.aggregator.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.nio.file.Files;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the command `drain` on a real API server without an aggregator. Each test has a node and a namespace of its own. */
@Tag("api")
class DrainCommandClusterTest extends DrainCommandFixture {

    @Test
    void podsAreEvictedAsBudgetsPermitAndOthersAreListed() throws Exception {
        TestPods pods = pods("budgeted");
        pods.run("budgeted", "web", OWNED, "");
        pods.run("budgeted", "agent", owned("DaemonSet"), "");
        pods.run("budgeted", "done", OWNED, "");
        pods.status("done", "{\"phase\": \"Succeeded\"}");
        budget("budgeted", 0);
        Running drain = drain("budgeted", "--grace-period", "7");
        drain.awaitMessage("budgeted/web: refused since ");
        assertThat(drain.err().toString())
                .contains("budgeted: cordoned", "one pod to go, 2 pods that may stay", "The disruption budget web");
        assertThat(fleet.cordoned("budgeted")).isTrue();
        assertThat(pods.untouched()).contains("web");

        budget("budgeted", 1);
        drain.awaitMessage("budgeted/web: evicted, it has until");
        assertThat(pods.get("web", ".metadata.deletionGracePeriodSeconds")).isEqualTo("7");
        assertThat(pods.get("web", ".status.conditions[?(@.type==\"DisruptionTarget\")].reason"))
                .isEqualTo("EvictionByEvictionAPI");
        pods.end("web");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(drain.tree())
                .containsEntry("schema", "gpuwarden.drain/v1")
                .containsEntry("outcome", "drained")
                .containsEntry("by", "admin");
        assertThat(drain.states()).containsEntry("web", "gone").containsEntry("agent", "left");
        assertThat(drain.tree().toString()).doesNotContainPattern("[0-9]{2}\\.[0-9]{4}");
        assertThat(pods.untouched()).containsExactly("agent", "done");
    }

    @Test
    void podWithoutControllerStaysUnlessForced() throws Exception {
        TestPods pods = pods("lonely");
        pods.run("lonely", "one");
        Running careful = drain("lonely");
        assertThat(careful.end()).isEqualTo(1);
        assertThat(careful.tree()).containsEntry("outcome", "left");
        assertThat(careful.out().toString()).contains("no controller would start it again (--force)");
        assertThat(pods.untouched()).containsExactly("one");

        Running forced = drain("lonely", "--force", "--ignore-daemonsets");
        forced.awaitMessage("lonely: it was cordoned already");
        forced.awaitMessage("lonely/one: evicted");
        pods.end("one");
        assertThat(forced.end()).as(forced.err().toString()).isZero();
        assertThat(fleet.cordoned("lonely")).isTrue();
    }

    /** Writes an answer of the daemon, like the replica that the node reports to. */
    @Test
    void dryRunReportsAllAndChangesNothing() throws Exception {
        TestPods pods = pods("dry");
        pods.run("dry", "web", OWNED, "");
        pods.run("dry", "lonely");
        budget("dry", 0);
        String before = fleet.get("dry", ".metadata.resourceVersion");
        String pod = pods.get("web", ".metadata.resourceVersion");
        Running refused = drain("dry", "--dry-run");
        assertThat(refused.end()).isEqualTo(1);
        assertThat(refused.states()).containsEntry("web", "refused").containsEntry("lonely", "stays");
        assertThat(refused.tree()).containsEntry("dryRun", true);
        budget("dry", 1);
        Running free = drain("dry", "--dry-run", "--force");
        assertThat(free.end()).as(free.out().toString()).isZero();
        assertThat(free.states()).containsEntry("web", "evict").containsEntry("lonely", "evict");

        runWithGpu(pods, "dry", "mute", "");
        Running unknown = drain("dry", "--dry-run", "--gpu", GPU);
        assertThat(unknown.end()).isEqualTo(3);
        assertThat(unknown.out().toString()).contains("a dry run does not ask its daemon");
        assertThat(fleet.lookup("dry")).isEmpty();
        assertThat(fleet.get("dry", ".metadata.resourceVersion")).isEqualTo(before);
        assertThat(pods.get("web", ".metadata.resourceVersion")).isEqualTo(pod);
        assertThat(pods.untouched()).containsExactly("lonely", "mute", "web");
    }

    @Test
    void podThatCanSaveItsWorkGetsASignalFirstIfRequested() throws Exception {
        TestPods pods = pods("saving");
        pods.run("saving", "train", OWNED + ", annotations: {gpuwarden.dev/checkpoint-signal: SIGUSR1}", "");
        Running drain = drain("saving", "--notice", "10m");
        drain.awaitMessage("saving/train: SIGUSR1 is being sent");
        assertThat(pods.untouched()).containsExactly("train");
        pods.annotate("train", "gpuwarden.dev/checkpointed", "yes");
        drain.awaitMessage("saving/train: evicted");
        pods.end("train");
        assertThat(drain.end()).as(drain.err().toString()).isZero();
        assertThat(fleet.client.get("nodehealth/saving", ".spec.signals"))
                .as("nothing is asked of it any more")
                .isIn("", "{}");
    }

    @Test
    void missingRightsAreReportedBeforeAnyChange() throws Exception {
        TestPods pods = pods("guarded");
        pods.run("guarded", "one", OWNED, "");
        kubeconfig = person("blind", "[pods]");
        Running blind = drain("guarded");
        assertThat(blind.end()).isEqualTo(3);
        assertThat(blind.err().toString())
                .contains("nothing was done: system:serviceaccount:gpuwarden:blind may not list pods, watch pods");
        assertThat(fleet.cordoned("guarded")).isFalse();

        kubeconfig = person("powerless", "eviction");
        Running powerless = drain("guarded");
        assertThat(powerless.end()).isEqualTo(1);
        assertThat(powerless.out().toString()).contains("cannot create resource");
        assertThat(pods.untouched()).containsExactly("one");
    }

    @Test
    void releaseOrInterruptEndsTheDrain() throws Exception {
        TestPods pods = pods("released");
        pods.run("released", "one", OWNED, "");
        budget("released", 0);
        Running drain = drain("released");
        drain.awaitMessage("refused since");
        fleet.uncordon("released");
        assertThat(drain.end()).isEqualTo(1);
        assertThat(drain.tree()).containsEntry("outcome", "released");

        Running late = drain("released", "--timeout", "2s");
        assertThat(late.end()).isEqualTo(1);
        assertThat(late.tree()).containsEntry("outcome", "timeout");
        assertThat(late.states()).containsEntry("one", "refused");

        Running stopped = drain("released");
        stopped.awaitMessage("refused since");
        interrupt.countDown();
        assertThat(stopped.end()).isEqualTo(1);
        assertThat(stopped.tree()).containsEntry("outcome", "stopped");
        assertThat(stopped.err().toString()).contains("it stays cordoned");
        assertThat(fleet.cordoned("released")).isTrue();
        assertThat(pods.untouched()).containsExactly("one");
    }

    @Test
    void evictionWithALostAnswerIsSentOnceAndSeenLater() throws Exception {
        TestPods pods = pods("broken-off");
        pods.run("broken-off", "one", OWNED, "");
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            kubeconfig = Files.writeString(folder.resolve("faulty"), faulty.kubeconfig());
            faulty.fail(ApiCall.of("POST", "/eviction"), new ApiFault.CutAfter());
            Running drain = drain("broken-off");
            drain.awaitMessage("broken-off/one: evicted");
            faulty.cut();
            pods.end("one");
            assertThat(drain.end()).as(drain.err().toString()).isZero();
            assertThat(drain.states()).containsEntry("one", "gone");
            assertThat(faulty.count(ApiCall.of("POST", "/eviction"))).isEqualTo(1);
        }
    }

    @Test
    void invalidArgumentsAreUsageErrors() throws Exception {
        fleet.node("worker");
        for (String[] words : new String[][] {
            {"worker", "--gpu", "0"},
            {"worker", "--grace-period", "0"},
            {"worker", "--system-namespaces", "["},
            {"nobody"},
            {"N"}
        }) {
            assertThat(drain(words).end()).as(String.join(" ", words)).isEqualTo(2);
        }
        assertThat(fleet.cordoned("worker")).isFalse();
    }
}
