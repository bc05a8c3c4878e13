package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.app.Workshop.Running;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that kill the leader at each write of a maintenance, before or after the API server has it. The next leader ends the
 * maintenance: one action, no lock left, the labels as before.
 */
@Tag("api")
class JanitorKillTest {

    /** A maintenance, and the state in which it must end. */
    private record Case(String kind, Consumer<String> make, String done, String end, int actions, int writes) {}

    private TestFleet fleet;
    private Workshop shop;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        shop = new Workshop(fleet);
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            shop.remove();
            fleet.close();
        }
    }

    private List<Case> cases() {
        return List.of(
                new Case("gpureset", shop::reset, "Complete", "True ResetSucceeded", 1, 9),
                new Case(
                        "gpureset",
                        node -> {
                            shop.services(node);
                            shop.reset(node);
                        },
                        "Complete",
                        "True ResetSucceeded",
                        1,
                        13),
                new Case("rebootnode", shop::reboot, "NodeReady", "True Rebooted", 1, 9),
                new Case(
                        "gpureset",
                        node -> {
                            fleet.uncordon(node);
                            shop.reset(node);
                        },
                        "Complete",
                        "False NodeInService",
                        0,
                        1));
    }

    @Test
    void nextLeaderEndsTheMaintenanceWhereverTheLeaderIsKilled() throws Exception {
        int turn = 0;
        for (Case each : cases()) {
            List<KillPoint> points = undisturbed(each, "u" + turn);
            for (int i = turn++ % 5; i < points.size(); i += 6) {
                killed(
                        each,
                        points.get(i),
                        "k" + turn + "-" + i,
                        i % 2 == 0 ? new ApiFault.CutBefore() : new ApiFault.CutAfter());
            }
        }
    }

    @Test
    @Tag("soak")
    void nextLeaderEndsTheMaintenanceAfterAKillAtEachWrite() throws Exception {
        int turn = 0;
        for (Case each : cases()) {
            List<KillPoint> points = undisturbed(each, "s" + turn);
            for (int i = 0; i < points.size(); i++) {
                killed(each, points.get(i), "before" + turn + "-" + i, new ApiFault.CutBefore());
                killed(each, points.get(i), "after" + turn + "-" + i, new ApiFault.CutAfter());
            }
            turn++;
        }
    }

    private List<KillPoint> undisturbed(Case of, String node) throws Exception {
        shop.node(node);
        of.make().accept(node);
        var before = shop.labels(node);
        try (FaultyApi faulty = new FaultyApi(fleet.plane);
                KubeClient api = fleet.asAggregator(faulty)) {
            try (Running running = Workshop.start(api, node)) {
                until(() -> over(of, node) && running.idle(), () -> state(of, node));
            }
            check(of, node, before);
            List<KillPoint> points = KillPoint.of(faulty.calls(), node);
            assertThat(points).as("writes").hasSize(of.writes());
            lease();
            return points;
        }
    }

    private void killed(Case of, KillPoint at, String node, ApiFault how) throws Exception {
        shop.node(node);
        of.make().accept(node);
        var before = shop.labels(node);
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            BooleanSupplier killed = at.kill(faulty, node, how);
            try (KubeClient api = fleet.asAggregator(faulty);
                    Running running = Workshop.start(api, node)) {
                until(
                        () -> {
                            shop.play(node);
                            return killed.getAsBoolean();
                        },
                        at + " of " + node);
                assertThat(running.janitor().queue().failing()).isLessThan(100);
            }
        }
        lease();
        try (KubeClient api = fleet.asAggregator();
                Running running = Workshop.start(api, node + "-next")) {
            until(() -> over(of, node) && running.idle(), () -> at + ": " + state(of, node));
        }
        check(of, node, before);
        lease();
    }

    private boolean over(Case of, String node) {
        return shop.over(of.kind() + "/" + node, node);
    }

    private void check(Case of, String node, Object labels) {
        assertThat(shop.condition(of.kind() + "/" + node, of.done())).as(node).isEqualTo(of.end());
        assertThat(shop.actions.getOrDefault(node, List.of()))
                .as("actions on " + node)
                .hasSize(of.actions());
        assertThat(shop.labels(node)).as("labels of " + node).isEqualTo(labels);
    }

    private String state(Case of, String node) {
        return of.kind() + " of " + node + " is over, seen "
                + fleet.client.find(of.kind() + "/maintenance-" + node, ".status") + ", lock "
                + fleet.client.find("lease/locks/" + node, ".metadata");
    }

    private void lease() {
        fleet.client.delete("lease/gpuwarden/gpuwarden-aggregator");
    }
}
