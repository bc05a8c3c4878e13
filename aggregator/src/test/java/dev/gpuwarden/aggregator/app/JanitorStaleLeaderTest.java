package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.testkit.cluster.ApiFault;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tests with two replicas that act. The write of the first is on its way until the second has ended the maintenance, and the
 * node is in service again or has another action. Then the write arrives. It must not act on the node.
 */
@Tag("api")
class JanitorStaleLeaderTest {

    private final ExecutorService threads = Executors.newCachedThreadPool();
    private TestFleet fleet;
    private Workshop shop;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        shop = new Workshop(fleet);
    }

    @AfterEach
    void end() {
        threads.shutdownNow();
        if (fleet != null) {
            shop.remove();
            fleet.close();
        }
    }

    @Test
    void lateWriteOfAnEarlierLeaderNeverActs() throws Exception {
        List<String> late = new ArrayList<>();
        late.addAll(each("gpureset", shop::reset));
        late.addAll(each("rebootnode", shop::reboot));
        assertThat(late)
                .as("writes that were late")
                .anyMatch(what -> what.matches("POST .*/jobs"))
                .anyMatch(what -> what.matches("PATCH .*/jobs/.*"));
    }

    @Test
    void lateLockOfAnEndedResourceDelaysNoOther() throws Exception {
        String node = "late-lock";
        shop.node(node);
        shop.reboot(node);
        try (KubeClient api = fleet.asAggregator();
                JanitorReplica replica = new JanitorReplica(api)) {
            until(() -> replica.works(node) && shop.over("rebootnode/" + node, node), "it ends");
            fleet.client.apply("""
                    {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: late-lock, namespace: locks,
                    ownerReferences: [{apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: RebootNode,
                    name: maintenance-late-lock, uid: "%s"}]}}
                    """.formatted(shop.of("rebootnode/" + node, ".metadata.uid")));
            shop.create("GPUReset", "next", node, "selector: {uuids: [" + Workshop.GPU + "]}");
            until(() -> replica.works(node) && shop.over("gpureset/next", node), "the next one ends");
        }
    }

    private List<String> each(String kind, Consumer<String> make) throws Exception {
        List<KillPoint> points = undisturbed(kind, make);
        for (int i = 0; i < points.size(); i++) {
            String node = "late-" + kind + "-" + i;
            late(kind, make, node, points.get(i), i % 2 == 0);
        }
        return points.stream().map(KillPoint::what).toList();
    }

    private List<KillPoint> undisturbed(String kind, Consumer<String> make) throws Exception {
        String node = "calm-" + kind;
        shop.node(node);
        make.accept(node);
        try (FaultyApi faulty = new FaultyApi(fleet.plane);
                KubeClient api = fleet.asAggregator(faulty);
                JanitorReplica replica = new JanitorReplica(api)) {
            until(() -> replica.works(node) && shop.over(kind + "/" + node, node), "it ends");
            return KillPoint.of(faulty.calls(), node);
        }
    }

    private void late(String kind, Consumer<String> make, String node, KillPoint point, boolean deleted)
            throws Exception {
        String as = point + " of " + node;
        shop.node(node);
        make.accept(node);
        try (FaultyApi faulty = new FaultyApi(fleet.plane);
                KubeClient slow = fleet.asAggregator(faulty);
                JanitorReplica first = new JanitorReplica(slow);
                KubeClient api = fleet.asAggregator();
                JanitorReplica second = new JanitorReplica(api)) {
            BooleanSupplier underway = point.reach(faulty, node, new ApiFault.Delay(Duration.ofHours(1)));
            Future<?> turn = threads.submit(() -> {
                while (!underway.getAsBoolean()) {
                    first.works(node);
                }
                return null;
            });
            until(
                    () -> {
                        shop.play(node);
                        return underway.getAsBoolean();
                    },
                    as);
            if (deleted) {
                fleet.client.delete(kind + "/maintenance-" + node);
            } else {
                fleet.uncordon(node);
            }
            until(
                    () -> second.works(node) && shop.isFree(kind, node),
                    () -> as + " ends, seen " + fleet.client.find(kind + "/maintenance-" + node, ".status"));
            int before = shop.actions.getOrDefault(node, List.of()).size();
            faulty.heal();
            turn.get(30, TimeUnit.SECONDS);
            assertThat(shop.running(node)).as(as).isEmpty();
            assertThat(shop.actions.getOrDefault(node, List.of())).as(as).hasSize(before);
        }
    }
}
