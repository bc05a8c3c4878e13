package dev.gpuwarden.aggregator.ingest;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.api.v1.VramAnswer;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** The amount of VRAM of a Node whose labels change, with a real API server and the shipped rights. */
class VramLabelClusterTest extends VramSetup {

    /** @param value JSON */
    private void label(String name, String value) {
        plane.client().patch("node/" + node, "{\"metadata\": {\"labels\": {\"" + name + "\": " + value + "}}}");
    }

    private void untilCapacity(String value) {
        until(() -> capacity(node).equals(value), "the Node has '" + value + "'");
    }

    @Test
    void theAmountGoesWithTheLastLabelAndComesBackWithAnother() throws Exception {
        label("gpu", "\"yes\"");
        start(api(), settings(ActionMode.DRY_RUN, true, false, "gpu=yes", "accelerator"));
        assertThat(advertise(OptionalLong.of(14000)).getAccepted()).isTrue();
        label("gpu", "\"no\"");
        untilCapacity("");
        VramAnswer answer = advertise(OptionalLong.of(9000));
        assertThat(answer.getText()).isEqualTo("the labels of the Node match no selector of --vram.nodes");
        assertThat(answer.getAccepted()).isFalse();
        assertThat(capacity(node)).isEmpty();
        label("accelerator", "\"t4\"");
        untilCapacity("9k");
    }

    @Test
    void theAmountGoesAlsoWithoutTheNodesDaemon() throws Exception {
        label("gpu", "\"yes\"");
        start(api(), settings(ActionMode.DRY_RUN, true, false, "gpu=yes"));
        assertThat(advertise(OptionalLong.of(9000)).getAccepted()).isTrue();
        uplink.close();
        until(() -> vram.nodes().joined() == 0, "the node is away");
        assertThat(capacity(node)).as("it keeps its amount").isEqualTo("9k");
        label("gpu", "null");
        untilCapacity("");
        assertThat(plane.client().find("node/" + node, ".metadata.annotations")).isEmpty();
    }

    @Test
    void anAggregatorThatStartsLaterRemovesItToo() throws Exception {
        start(ActionMode.DRY_RUN, true, false);
        assertThat(advertise(OptionalLong.of(9000)).getAccepted()).isTrue();
        parts.close();
        start(api(), settings(ActionMode.DRY_RUN, false, false, "gpu=yes"));
        assertThat(advertise(OptionalLong.of(9000)).getAccepted()).isFalse();
        assertThat(capacity(node)).as("with --vram.capacity=off").isEqualTo("9k");
        start(api(), settings(ActionMode.DRY_RUN, true, false, "gpu=yes"));
        untilCapacity("");
    }
}
