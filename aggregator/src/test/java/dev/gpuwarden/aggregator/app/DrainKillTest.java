package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that kill the draining leader at each of its writes, before or after the API server has it. The next leader finishes
 * the drain.
 */
@Tag("api")
class DrainKillTest {

    private TestFleet fleet;
    private TestPods pods;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        pods = new TestPods(fleet, fleet.named("work"));
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    private Controllers steer(KubeClient api, String identity, List<Entry> audits) {
        return TestPods.steer(api, identity, true, TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1)), audits);
    }

    private void scene(String node) {
        fleet.node(node);
        pods.run(node, node + "-a");
        pods.run(node, node + "-b");
        fleet.fail(node);
    }

    /** Does the part of the kubelet. */
    private boolean drained(String node) {
        for (String name : List.of(node + "-a", node + "-b")) {
            if (pods.asked(name)) {
                pods.end(name);
            }
        }
        return fleet.get(node, ".metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state")
                        .equals("drain-succeeded")
                && fleet.eventReasons(node).equals(List.of("Drained", "Quarantined"));
    }

    private void lease() {
        fleet.client.delete("lease/gpuwarden/gpuwarden-aggregator");
    }

    @Test
    void nextLeaderFinishesTheDrainWhereverTheLeaderIsKilled() throws Exception {
        List<KillPoint> points = undisturbed();
        for (int i = 0; i < points.size(); i++) {
            killed(points.get(i), "k" + i, i % 2 == 0 ? new ApiFault.CutBefore() : new ApiFault.CutAfter());
        }
    }

    @Test
    @Tag("soak")
    void nextLeaderFinishesTheDrainAfterAKillAtEachWrite() throws Exception {
        List<KillPoint> points = undisturbed();
        for (int i = 0; i < points.size(); i++) {
            killed(points.get(i), "before" + i, new ApiFault.CutBefore());
            killed(points.get(i), "after" + i, new ApiFault.CutAfter());
        }
    }

    private List<KillPoint> undisturbed() throws Exception {
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            scene("undisturbed");
            try (KubeClient api = fleet.asAggregator(faulty);
                    Controllers controllers = steer(api, "undisturbed", new CopyOnWriteArrayList<>())) {
                until(() -> drained("undisturbed") && controllers.queued() == 0, "it is drained");
            }
            List<KillPoint> points = KillPoint.of(faulty.calls(), "undisturbed").stream()
                    // Only the first scene writes the breaker.
                    .filter(point -> !point.what().contains("/configmaps"))
                    .toList();
            // Cordon, condition, Event; begin, two evictions, end, Event.
            assertThat(points).hasSizeGreaterThanOrEqualTo(8);
            return points;
        }
    }

    private void killed(KillPoint at, String node, ApiFault how) throws Exception {
        scene(node);
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            BooleanSupplier killed = at.kill(faulty, node, how);
            try (KubeClient api = fleet.asAggregator(faulty);
                    Controllers controllers = steer(api, node, new CopyOnWriteArrayList<>())) {
                until(
                        () -> {
                            boolean drained = drained(node);
                            return killed.getAsBoolean() || !at.always() && drained;
                        },
                        at + " of " + node);
                assertThat(controllers.failing()).as("failing names").isLessThan(100);
            }
        }
        lease();
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = steer(api, node + "-next", new CopyOnWriteArrayList<>())) {
            until(() -> drained(node), node + " is drained");
            until(() -> controllers.queued() == 0 && controllers.failing() == 0, "all is done");
            assertThat(drained(node)).as("it stays so").isTrue();
        }
        lease();
    }
}
