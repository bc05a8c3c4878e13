package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.vram.VramBudgets;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.util.JsonTrees;
import io.grpc.Status;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The Event of a pod that waits, with the use that a node reports, on a real API server with the shipped rights. */
class WaitingUseClusterTest extends VramSetup {

    private static final String SPACE = "vram-waiting-use";

    @AfterEach
    void deletePods() {
        plane.client().deleteNow("pods/" + SPACE);
    }

    /** Creates a pod as a scheduler leaves it that finds no room on this test's node. */
    private void waiting(String name) {
        plane.client().patch("node/" + node, "{\"metadata\": {\"labels\": {\"waiting\": \"" + node + "\"}}}");
        plane.client().apply("""
            {apiVersion: v1, kind: Pod, metadata: {name: %s, namespace: %s}, spec: {nodeSelector: {waiting: %s},
            containers: [{name: main, image: none, resources: {limits: {%s: "9000"}}}]}}
            """.formatted(name, SPACE, node, RESOURCE));
        plane.client().patch("pod/" + SPACE + "/" + name + "/status", """
            {"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
              "message": "0/1 nodes are available: 1 Insufficient %s.", "lastTransitionTime": "%s"}]}}
            """.formatted(
                        RESOURCE, Clock.systemUTC().instant()));
    }

    private List<String> messages() {
        return JsonTrees.objects(plane.client().get("events/" + SPACE), "items").stream()
                .filter(event -> event.get("reason").equals("VramWaiting"))
                .map(event -> JsonTrees.text(event, "message"))
                .toList();
    }

    private static NodeReport overBudget(Map<String, Long> mib) {
        return NodeReport.newBuilder().setOverBudget(VramCodec.overBudget(mib)).build();
    }

    @Test
    void theReplicaWithTheNodesReportWritesTheEventAndNamesThePodsAboveTheirBudgets() throws Exception {
        namespace(SPACE);
        run(SPACE, "steady", node, "8000");
        run(SPACE, "greedy", node, "3000");
        times = new VramBudgets.Times(Duration.ofSeconds(1), Duration.ofHours(1), Duration.ofSeconds(2));
        // A replica without a stream of the node.
        start(ActionMode.DRY_RUN, true, false);
        uplink.close();
        VramBudgets away = vram;
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(13374)).getAccepted()).isTrue();
        plane.client()
                .patch(
                        "node/" + node + "/status",
                        "{\"status\": {\"allocatable\": {\"" + RESOURCE + "\": \"13374\"}}}");
        // The second pod is another node's, or a lie.
        uplink.send(overBudget(Map.of(uid(SPACE, "greedy"), 1024L, "uid-elsewhere", 9000L)));
        waiting("large");
        until(() -> !messages().isEmpty(), "the pod has an Event");
        assertThat(messages().get(0))
                .endsWith(" s. " + node + " has 13374 MiB, 2374 free; held by " + SPACE
                        + "/greedy 3000 (uses 1024 more), " + SPACE + "/steady 8000."
                        + excluded(messages().get(0)));
        until(() -> away.metrics().waiting.sums().containsKey("written_before"), "the other replica finds it");
        assertThat(messages()).hasSize(1);
    }

    /** Returns the end about nodes of other tests. */
    private static String excluded(String message) {
        int at = message.indexOf(" Nodes that its nodeSelector excludes");
        return at < 0 ? "" : message.substring(at);
    }

    @Test
    void aReportBeyondItsLimitsEndsTheStream() throws Exception {
        start(ActionMode.DRY_RUN, true, false);
        uplink.send(overBudget(Map.of("u1", 0L)));
        assertThat(uplink.end().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }
}
