package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.testkit.cluster.Component;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of a drain with budgets of the real controller. */
@Tag("api")
class DrainBudgetTest {

    @TempDir
    Path folder;

    private final List<Entry> audits = new CopyOnWriteArrayList<>();

    private static String budget(String name, int least) {
        return """
                {apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: %s, namespace: work},
                spec: {minAvailable: %d, selector: {matchLabels: {app: work}}}}
                """.formatted(name, least);
    }

    private static String allowed(TestFleet fleet, String budget) {
        return fleet.client.get("poddisruptionbudget/work/" + budget, ".status.disruptionsAllowed");
    }

    @Test
    void budgetRefusesThenPermitsAndBothAreRecorded() {
        try (TestFleet fleet = TestFleet.start(folder, Component.CONTROLLER_MANAGER)) {
            fleet.node("bad");
            fleet.node("good");
            TestPods pods = new TestPods(fleet, "work");
            pods.run("bad", "guarded");
            fleet.client.apply(budget("web", 1));
            until(() -> allowed(fleet, "web").equals("0"), "the budget counts its pod");
            try (KubeClient api = fleet.asAggregator();
                    Controllers controllers = TestPods.steer(
                            api, "one", true, TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1)), audits)) {
                until(controllers::works, "it leads");
                fleet.fail("bad");
                String drain = ".metadata.annotations.gpuwarden\\.dev/drain";
                until(() -> fleet.get("bad", drain).contains("The disruption budget web"), "the node names the budget");
                until(() -> fleet.eventReasons("bad").contains("DrainBlocked"), "its Event is written");
                assertThat(pods.asked("guarded")).isFalse();
                // Another pod is ready on another node.
                pods.run("good", "more");
                until(() -> pods.asked("guarded"), "it is evicted");
                pods.end("guarded");
                until(() -> fleet.get("bad", drain).contains("finished"), "the node is drained");
                assertThat(audits.stream().map(Entry::decision).distinct())
                        .containsExactly("start", "evict", "refused", "evicted", "finish");
                assertThat(pods.asked("more")).isFalse();
            }
            // Kubernetes refuses the eviction of a pod with two budgets.
            fleet.node("worse");
            fleet.client.apply(budget("web", 0));
            fleet.client.apply(budget("second", 0));
            pods.run("worse", "twice");
            until(() -> !allowed(fleet, "second").isEmpty(), "the second one counts too");
            try (KubeClient api = fleet.asAggregator();
                    Controllers controllers = TestPods.steer(
                            api, "two", true, TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1)), audits)) {
                until(controllers::works, "it leads");
                fleet.fail("worse");
                until(
                        () -> fleet.get("worse", ".metadata.annotations.gpuwarden\\.dev/drain")
                                .contains("more than one PodDisruptionBudget"),
                        "the node has the refusal");
                assertThat(pods.asked("twice")).isFalse();
            }
        }
    }
}
