package dev.gpuwarden.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.benchmarks.NodeActs.Act;
import java.util.List;
import org.junit.jupiter.api.Test;

class NodeActsTest {

    private static final Act RESET = new Act("node-1", "a", "reset -i GPU-1 --gpu-reset", false, List.of("work"));
    private static final Act REBOOT = new Act("node-1", "b", "reboot reboot", false, List.of());

    @Test
    void actsOnDrainedNodesOnceForEachResourceAreRight() {
        Act otherGpu = new Act("node-1", "a", "reset -i GPU-2 --gpu-reset", false, List.of());
        assertThat(NodeActs.wrong(List.of(RESET, otherGpu, REBOOT))).isEmpty();
    }

    @Test
    void anActAgainForOneResourceIsWrong() {
        assertThat(NodeActs.wrong(List.of(RESET, REBOOT, RESET)))
                .singleElement()
                .asString()
                .contains("time 2");
    }

    @Test
    void anActOnANodeInServiceAndARebootUnderPodsAreWrong() {
        Act inService = new Act("node-1", "c", "reset -i GPU-1 --gpu-reset", true, List.of());
        Act underPods = new Act("node-1", "d", "reboot reboot", false, List.of("work"));
        assertThat(NodeActs.wrong(List.of(inService, underPods))).hasSize(2);
    }
}
