package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.VramAnswer;
import dev.gpuwarden.testkit.cluster.ApiCall;
import dev.gpuwarden.testkit.cluster.FaultyApi;
import dev.gpuwarden.testkit.cluster.UsedRights;
import io.grpc.Status;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The amount of VRAM of a node in its Node, with a real API server and the shipped rights. */
@ExtendWith(UsedRights.class)
class VramAdvertiseClusterTest extends VramSetup {

    private static final Duration SOON = Duration.ofSeconds(5);

    private static final Predicate<ApiCall> WRITES = ApiCall.of("PATCH", "/status");

    private void untilCapacity(String value) {
        long start = System.nanoTime();
        until(() -> capacity(node).equals(value), "the Node has " + value);
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(SOON);
    }

    @Test
    void aNodesOwnAmountComesAndGoesAndLeavesNoTrace() throws Exception {
        String before = marks();
        start(ActionMode.DRY_RUN, true, false);
        VramAnswer answer = advertise(OptionalLong.of(14000));
        assertThat(answer.getText()).isEqualTo("the Node has " + RESOURCE + " 14000");
        assertThat(answer.getAccepted()).isTrue();
        assertThat(capacity(node)).isEqualTo("14k");
        assertThat(advertise(OptionalLong.of(9000)).getAccepted())
                .as("the card is a smaller one now")
                .isTrue();
        assertThat(capacity(node)).isEqualTo("9k");

        setCapacity("\"0\"");
        untilCapacity("9k");
        setCapacity("null");
        untilCapacity("9k");
        plane.client().deleteNow("node/" + node);
        TestCluster.node(plane, node);
        untilCapacity("9k");

        assertThat(advertise(OptionalLong.empty()).getAccepted()).isTrue();
        assertThat(capacity(node)).isEmpty();
        assertThat(marks()).isEqualTo(before);
    }

    private String marks() {
        return plane.client().find("node/" + node, ".metadata.annotations")
                + plane.client().find("node/" + node, ".status.capacity");
    }

    @Test
    void anAmountThatTheGpusOfTheNodeCannotHaveIsRefused() throws Exception {
        plane.client()
                .patch(
                        "node/" + node,
                        "{\"metadata\": {\"labels\": {\"nvidia.com/gpu.count\": \"2\", \"nvidia.com/gpu.memory\":"
                                + " \"15360\"}}}");
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(14000)).getAccepted()).isTrue();
        VramAnswer answer = advertise(OptionalLong.of(63L << 20));
        assertThat(answer.getAccepted()).isFalse();
        assertThat(answer.getText()).startsWith("expected at most 30720 MiB, as 2 GPUs of 15360 MiB have");
        assertThat(capacity(node)).isEqualTo("14k");
        until(
                () -> plane.client().get("events/default").toString().contains("expected at most 30720 MiB"),
                "the Node has an Event");
    }

    @Test
    void equalAmountsAreWrittenOnce() throws Exception {
        FaultyApi between = parts.add(new FaultyApi(plane));
        start(
                api(between.kubeconfig(plane.token("gpuwarden", "gpuwarden-aggregator"))),
                settings(ActionMode.DRY_RUN, true, false));
        long before = between.count(WRITES.and(ApiCall.of("PATCH", "/nodes/")));
        for (int i = 0; i < 100; i++) {
            assertThat(advertise(OptionalLong.of(5000)).getAccepted()).isTrue();
        }
        assertThat(between.count(WRITES.and(ApiCall.of("PATCH", "/nodes/"))) - before)
                .isEqualTo(1);
        long reads = between.count(ApiCall.of("GET", "/nodes/"));
        uplink = join(other());
        assertThat(advertise(OptionalLong.empty()).getAccepted()).isTrue();
        assertThat(between.count(ApiCall.of("GET", "/nodes/")) - reads)
                .as("a node that does not advertise costs no request besides its connection")
                .isLessThanOrEqualTo(1);
        assertThat(vram.metrics().advertised.sums())
                .containsEntry("written", 1L)
                .containsEntry("unchanged", 99L);
    }

    private String other() {
        TestCluster.node(plane, node + "-other");
        until(() -> cache.node(node + "-other").isPresent(), "the aggregator has the node");
        return node + "-other";
    }

    @Test
    void aResourceOfAnotherWriterIsRefusedWithItsOwnerAndAnEvent() throws Exception {
        var unused = api().apply(
                        "/api/v1/nodes/" + node + "/status",
                        "another-plugin",
                        Map.of(
                                "apiVersion",
                                "v1",
                                "kind",
                                "Node",
                                "metadata",
                                Map.of("name", node),
                                "status",
                                Map.of("capacity", Map.of(RESOURCE, "3"))));
        start(ActionMode.DRY_RUN, true, false);
        VramAnswer answer = advertise(OptionalLong.of(14000));
        assertThat(answer.getAccepted()).isFalse();
        assertThat(answer.getText()).contains("the Node has " + RESOURCE + " 3 already, written by another-plugin");
        assertThat(capacity(node)).isEqualTo("3");
        until(
                () -> plane.client().get("events/default").toString().contains("VramNotAdvertised"),
                "the Node has an Event");
        assertThat(advertise(OptionalLong.empty()).getText()).contains("has no " + RESOURCE + " of gpuwarden");
        assertThat(capacity(node)).isEqualTo("3");
    }

    @Test
    void anAggregatorThatDoesNotAdvertiseWritesNothing() throws Exception {
        start(ActionMode.ARMED, false, false);
        VramAnswer answer = advertise(OptionalLong.of(14000));
        assertThat(answer.getText()).contains("--vram.capacity is off");
        assertThat(answer.getAccepted()).isFalse();
        assertThat(capacity(node)).isEmpty();
    }

    @Test
    void aNodeReachesItsOwnNodeAndTheConfiguredResourceAlone() throws Exception {
        String other = node + "-other";
        TestCluster.node(plane, other);
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(14000)).getAccepted()).isTrue();
        assertThat(capacity(other)).as("another node's capacity").isEmpty();

        // Another key, and a node of the first version.
        for (String resource : new String[] {"nvidia.com/gpu", ""}) {
            uplink = parts.add(connect(server, TestCluster.token(plane, other)).hello(other, true, resource));
            assertThat(uplink.receive().getWelcome().getVramResource()).isEqualTo(RESOURCE);
            VramAnswer answer = advertise(OptionalLong.of(14000));
            assertThat(answer.getText()).contains("does not name " + RESOURCE);
            assertThat(answer.getAccepted()).isFalse();
        }
        assertThat(plane.client().find("node/" + other, ".status.capacity")).isEmpty();

        // No name of an extended resource.
        for (String resource : new String[] {"cpu", "gpuwarden.dev/vram~1mib", "kubernetes.io/x"}) {
            TestUplink bad =
                    parts.add(connect(server, TestCluster.token(plane, other)).hello(other, true, resource));
            assertThat(bad.end().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
        }
        // The stream of another node.
        TestUplink stranger =
                parts.add(connect(server, TestCluster.token(plane, other)).hello(node, true, RESOURCE));
        assertThat(stranger.end().getCode()).isEqualTo(Status.Code.PERMISSION_DENIED);
        uplink = join(other);
        uplink.send(VramCodec.advertise("x", OptionalLong.of(-1), OptionalLong.empty()));
        assertThat(uplink.end().getCode()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void aWriterThatAlwaysChangesTheValueBackWinsUntilItStops() throws Exception {
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(5000)).getAccepted()).isTrue();
        until(
                () -> {
                    setCapacity("\"1\"");
                    return vram.metrics().advertised.sums().getOrDefault("refused", 0L) > 0;
                },
                "the aggregator gives up for a minute");
        assertThat(capacity(node)).isEqualTo("1");
        assertThat(vram.metrics().advertised.sums().get("written")).isEqualTo(10);
    }
}
