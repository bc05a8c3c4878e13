package dev.gpuwarden.aggregator.control;

import static dev.gpuwarden.aggregator.control.TestFleet.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.drain.DrainAudit;
import dev.gpuwarden.aggregator.drain.DrainMode;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Kills the one that drains at each of its writes, before and after the API server has it: the next one ends it. */
@Tag("api")
class DrainKillTest {

    private static final Set<String> WRITES = Set.of("POST", "PUT", "PATCH", "DELETE");

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

    private static boolean writes(ApiCall call) {
        return WRITES.contains(call.method())
                && !call.path().contains("/leases")
                && !call.path().contains("/configmaps")
                && !call.path().contains("/quarantinerulesets");
    }

    private Steering steer(ClusterApi api, String identity, List<DrainAudit> audits) {
        return TestPods.steer(api, identity, true, TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1)), audits);
    }

    private void scene(String node) {
        fleet.node(node);
        pods.run(node, node + "-a");
        pods.run(node, node + "-b");
        fleet.fail(node);
    }

    /** The kubelet does its part. */
    private boolean drained(String node) {
        for (String name : List.of(node + "-a", node + "-b")) {
            if (pods.asked(name)) {
                pods.end(name);
            }
        }
        return fleet.get(node, ".metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state")
                        .equals("drain-succeeded")
                && fleet.said(node).equals(List.of("Drained", "Quarantined"));
    }

    private void lease() {
        fleet.client.delete("lease/gpuwarden/gpuwarden-aggregator");
    }

    @Test
    void whereverItIsKilledTheNextOneDrainsTheNode() throws Exception {
        int writes;
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            scene("all");
            try (ClusterApi api = fleet.asAggregator(faulty);
                    Steering steering = steer(api, "all", new CopyOnWriteArrayList<>())) {
                until(() -> drained("all") && steering.queued() == 0, "it is drained");
                writes = (int) faulty.count(DrainKillTest::writes);
            }
        }
        // Cordon, condition, Event; begin, two evictions, end, Event.
        assertThat(writes).isGreaterThanOrEqualTo(8);
        for (int k = 1; k <= writes; k++) {
            killed(k, new ApiFault.CutBefore());
            killed(k, new ApiFault.CutAfter());
        }
    }

    private void killed(int at, ApiFault how) throws Exception {
        String node = "k" + at + how.getClass().getSimpleName().toLowerCase(Locale.ROOT);
        scene(node);
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            AtomicInteger count = new AtomicInteger();
            faulty.fail(call -> writes(call) && count.incrementAndGet() == at, 1, how);
            faulty.fail(call -> count.get() >= at, new ApiFault.CutBefore());
            try (ClusterApi api = fleet.asAggregator(faulty);
                    Steering steering = steer(api, node, new CopyOnWriteArrayList<>())) {
                until(() -> drained(node) || count.get() >= at, "write " + at + " of " + node);
                assertThat(steering.failing()).as("nobody knows yet").isLessThan(100);
            }
        }
        lease();
        List<DrainAudit> audits = new CopyOnWriteArrayList<>();
        try (ClusterApi api = fleet.asAggregator();
                Steering steering = steer(api, node + "-next", audits)) {
            until(() -> drained(node), node + " is drained");
            until(() -> steering.queued() == 0 && steering.failing() == 0, "all is done");
            assertThat(drained(node)).as("it stays so").isTrue();
        }
        lease();
    }
}
