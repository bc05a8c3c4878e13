package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;

import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainMode;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.walk.EnteredFiles;
import dev.gpuwarden.testkit.walk.Walk;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Records the files that the end of a node's drain enters until the Job of its reset exists. */
@Tag("api")
class ResetWalkTest {

    /** The quarantine of the node decides again at the same time. */
    private static final String[] OTHERS = {
        "gpuwarden-leadership",
        "aggregator.client.LeaderElector",
        "gpuwarden-breaker",
        "gpuwarden-queue-node",
        "gpuwarden-queue-conditions-and-Events-of-node",
        "gpuwarden-queue-chore"
    };

    private static final int NODES = 4;
    /** No Job is polled while another node's way is recorded. */
    private static final JanitorTimes TIMES = new JanitorTimes(
            Duration.ofMinutes(20),
            Duration.ofMinutes(20),
            Duration.ofMinutes(20),
            Duration.ofMinutes(20),
            Duration.ofMinutes(20),
            Duration.ofDays(1),
            Duration.ofMinutes(10));

    @Test
    void drainedNodeGetsItsResetJobThroughTheseFiles() throws Exception {
        new Walk("From the drained node to the Job of its reset", 34).check(Drained.class);
    }

    public static final class Drained implements Callable<Integer> {

        @Override
        public Integer call() {
            try (TestFleet fleet = TestFleet.start()) {
                Workshop shop = new Workshop(fleet);
                List<String> drains = drain(fleet);
                try (KubeClient api = fleet.asAggregator();
                        Controllers controllers = Controllers.start(
                                api,
                                TestFleet.settings("walk", ActionMode.ARMED, 100),
                                audit -> {},
                                Optional.empty(),
                                Optional.of(new Controllers.Repairing(
                                        RepairFixture.settings(true, false),
                                        audit -> {},
                                        Optional.of(Workshop.settings(RebootProvider.JOB, TIMES)))))) {
                    until(controllers::works);
                    until(() -> controllers.queued() == 0);
                    for (int number = 0; number < NODES; number++) {
                        String node = node(number);
                        if (number > 0) {
                            EnteredFiles.begin(OTHERS);
                        }
                        drained(fleet, node, drains.get(number));
                        until(() -> shop.running(node).size() == 1);
                        until(() -> controllers.maintained() == 0);
                        EnteredFiles.end();
                    }
                } finally {
                    shop.remove();
                }
            }
            return 0;
        }

        private static String node(int number) {
            return "reset-walk-" + number;
        }

        /** Has the nodes put into quarantine and drained, and takes their drains from them. Returns these. */
        private static List<String> drain(TestFleet fleet) {
            for (int number = 0; number < NODES; number++) {
                fleet.node(node(number));
                fleet.report(
                        node(number),
                        fleet.xid(node(number))
                                .errorCodes(List.of("48"))
                                .action(RecommendedAction.COMPONENT_RESET)
                                .entities(List.of(Entity.gpu(RepairFixture.GPU)))
                                .build());
            }
            try (KubeClient api = fleet.asAggregator();
                    Controllers draining = TestPods.steer(
                            api,
                            "walk",
                            true,
                            TestPods.policies(DrainMode.IMMEDIATE, Duration.ofHours(1)),
                            new ArrayList<>())) {
                until(draining::works);
                for (int number = 0; number < NODES; number++) {
                    String node = node(number);
                    until(
                            () -> fleet.get(node, ".metadata.labels").contains("drain-succeeded"),
                            () -> fleet.get(node, ".metadata"));
                }
            }
            return IntStream.range(0, NODES)
                    .mapToObj(number -> {
                        String node = node(number);
                        String drain = JsonTrees.texts(
                                        JsonTrees.object(fleet.client.get("node/" + node), "metadata"), "annotations")
                                .getOrDefault(NodeAnnotations.DRAIN, "");
                        drained(fleet, node, null);
                        // An informer lists from the API server's cache. With the annotation in it, all are repaired at
                        // the start.
                        fleet.client.await(
                                "node/" + node + "?resourceVersion=0",
                                ".metadata.annotations",
                                "no drain",
                                annotations -> !annotations.contains(NodeAnnotations.DRAIN));
                        return drain;
                    })
                    .toList();
        }

        /** Has the Node, or takes from it, the annotation by which repairs see that it is drained. */
        private static void drained(TestFleet fleet, String node, @Nullable String drain) {
            Map<String, Object> annotations = new HashMap<>();
            annotations.put(NodeAnnotations.DRAIN, drain);
            fleet.client.patch("node/" + node, Json.write(Map.of("metadata", Map.of("annotations", annotations))));
        }
    }
}
