package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests that kill the leader at each of its writes, before or after the API server has it. The next leader must reach the same
 * state as without the kill.
 */
@Tag("api")
class KillBetweenWritesTest {

    private TestFleet fleet;
    private String wanted = "";

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    /** Returns settings with two pools: all nodes of the one may be quarantined, and no node of the other. */
    private static QuarantineSettings pools(String identity) {
        return new QuarantineSettings(
                "gpuwarden",
                identity,
                ActionMode.ARMED,
                List.of(
                        Pool.Parser.parse("zone;zone;rate=100%/5m;level=100%"),
                        Pool.Parser.parse("trips;trips;rate=0/5m;level=0")),
                TestFleet.ELECTION,
                false);
    }

    /** Four nodes: one becomes faulty, one returns, one has a minor fault, and one trips the breaker. */
    private final class Scene {
        private final List<String> nodes;
        private final String falls;
        private final String returns;
        private final String minor;
        private final String trips;

        Scene(String name) {
            this.falls = name + "-falls";
            this.returns = name + "-returns";
            this.minor = name + "-minor";
            this.trips = name + "-trips";
            this.nodes = List.of(falls, returns, minor, trips);
            List.of(falls, returns, minor).forEach(fleet::node);
            fleet.node(trips, "trips");
            fleet.fail(returns);
            try (KubeClient api = fleet.asAggregator();
                    Controllers controllers = Controllers.start(api, pools(name + "-first"), audit -> {})) {
                until(
                        () -> fleet.eventReasons(returns).contains("Quarantined") && controllers.queued() == 0,
                        "one is in quarantine");
            }
            lease();
            fleet.report(
                    minor,
                    fleet.xid(minor).fatal(false).errorCodes(List.of("43")).build());
            fleet.fail(falls);
            fleet.fail(trips);
            fleet.heal(returns);
        }

        /** Returns everything that must be the same in the end. */
        String state() {
            String breaker = fleet.client.find("configmap/gpuwarden/gpuwarden-breaker", ".data.trips");
            return nodes.stream().map(this::state).collect(Collectors.joining("\n")) + "\nbreaker open="
                    + breaker.contains("\"open\"");
        }

        private String state(String node) {
            String name = node.substring(node.indexOf('-'));
            return name + " cordoned=" + fleet.cordoned(node)
                    + " held="
                    + !fleet.get(node, ".metadata.annotations.quarantineHealthEvent")
                            .isEmpty()
                    + " condition=" + fleet.condition(node)
                    + " events=" + fleet.eventReasons(node);
        }

        void done() {
            fleet.client.delete("configmap/gpuwarden/gpuwarden-breaker");
            nodes.forEach(node -> fleet.client.delete("node/" + node));
        }
    }

    /**
     * Deletes the Lease. A killed leader does not release it, and a released one stays for a second. This test has no time to
     * wait.
     */
    private void lease() {
        fleet.client.delete("lease/gpuwarden/gpuwarden-aggregator");
    }

    @Test
    void nextLeaderReachesTheSameStateWhereverTheLeaderIsKilled() throws Exception {
        List<KillPoint> points = undisturbed();
        for (int i = 0; i < points.size(); i++) {
            killed(points.get(i), "k" + i, i % 2 == 0 ? new ApiFault.CutBefore() : new ApiFault.CutAfter());
        }
    }

    @Test
    @Tag("soak")
    void nextLeaderReachesTheSameStateAfterAKillAtEachWrite() throws Exception {
        List<KillPoint> points = undisturbed();
        for (int i = 0; i < points.size(); i++) {
            killed(points.get(i), "before" + i, new ApiFault.CutBefore());
            killed(points.get(i), "after" + i, new ApiFault.CutAfter());
        }
    }

    private List<KillPoint> undisturbed() throws Exception {
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            Scene scene = new Scene("undisturbed");
            try (KubeClient api = fleet.asAggregator(faulty);
                    Controllers controllers = Controllers.start(api, pools("undisturbed"), audit -> {})) {
                until(() -> fleet.eventReasons(scene.falls).contains("Quarantined"), "one falls");
                until(() -> fleet.eventReasons(scene.returns).contains("ReturnedToService"), "one returns");
                until(() -> controllers.queued() == 0 && scene.state().contains("breaker open=true"), "one trips");
                wanted = scene.state();
            }
            scene.done();
            assertThat(wanted).contains("falls cordoned=true", "returns cordoned=false");
            List<KillPoint> points = KillPoint.of(faulty.calls(), "undisturbed");
            // Two cordons, three conditions (one for the node that trips), three Events, the breaker.
            assertThat(points).hasSizeGreaterThanOrEqualTo(9);
            return points;
        }
    }

    private void killed(KillPoint at, String name, ApiFault how) throws Exception {
        Scene scene = new Scene(name);
        try (FaultyApi faulty = new FaultyApi(fleet.plane)) {
            BooleanSupplier killed = at.kill(faulty, name, how);
            try (KubeClient api = fleet.asAggregator(faulty);
                    Controllers controllers = Controllers.start(api, pools(name), audit -> {})) {
                until(
                        () -> killed.getAsBoolean()
                                || !at.always()
                                        && controllers.queued() == 0
                                        && scene.state().equals(wanted),
                        at + " of " + name);
                assertThat(controllers.failing()).as("failing names").isLessThan(100);
            }
        }
        lease();
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = Controllers.start(api, pools(name + "-next"), audit -> {})) {
            until(() -> scene.state().equals(wanted), at + ": expected\n" + wanted + "\nfound\n" + scene.state());
            until(() -> controllers.queued() == 0 && controllers.failing() == 0, "all is done");
            assertThat(scene.state()).as(at + ", and it stays so").isEqualTo(wanted);
        }
        scene.done();
        lease();
    }
}
