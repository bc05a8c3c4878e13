package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The program `nvidia-smi` of a simulated node; native/src/sim/c/selftest has the cases of each option. */
class NvidiaSmiTest {

    private record Result(int code, String output) {}

    private static Result run(SimulatedNode node, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(node.nvidiaSmi().toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("GPUWARDEN_SIM_ROOT", "1");
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    @Test
    void resetEndsWhatAnXidHasLeft() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8");
                SimulatedNode other = SimulatedNode.start("h100x8")) {
            other.set("gpu.7.state", "reset-required");
            node.set("gpu.7.xid", "95");
            node.set("gpu.7.state", "reset-required");
            node.set("gpu.7.recovery-action", "gpu-reset");
            node.set("gpu.7.ecc.volatile.uncorrected", "3");
            node.set("gpu.7.ecc.aggregate.uncorrected", "4");
            node.set("gpu.7.nvlink.3.state", "down");
            String uuid = node.control().table().text("gpu[7].uuid");
            assertThat(run(node, "-r", "-i", uuid).output()).contains("In use by another client");
            assertThat(run(node, "-pm", "0", "-i", uuid).code()).isZero();
            Result reset = run(node, "--gpu-reset", "-i", uuid);
            assertThat(reset.output()).endsWith("was successfully reset.\nAll done.\n");
            assertThat(reset.code()).isZero();
            assertThat(node.control().gpus().get(7).fit()).isTrue();
            SimTable table = node.control().table();
            assertThat(table.number("gpu[7].recovery_action")).isZero();
            assertThat(table.number("gpu[7].ecc_total[2]")).isZero();
            assertThat(table.number("gpu[7].ecc_total[3]")).isEqualTo(4);
            assertThat(table.number("gpu[7].link[3].state")).isEqualTo(1);
            assertThat(other.control().gpus().get(7).fit()).isFalse();
        }
    }

    @Test
    void processOfTheScenarioKeepsItsGpuFromAReset() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            assertThat(run(node, "-pm", "0").code()).isZero();
            assertThat(run(node, "-r", "-i", "0").code()).isEqualTo(255);
            assertThat(run(node, "-r", "-i", "7").code()).isZero();
            node.set("process.41001", "stop");
            assertThat(run(node, "-r", "-i", "0").code()).isZero();
        }
    }

    @Test
    void keysDecideTheResultOfAReset() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            assertThat(run(node, "-pm", "0").code()).isZero();
            node.set("process.31001", "stop");
            node.set("gpu.all.state", "reset-required");
            node.set("gpu.1.smi.reset", "lie");
            node.set("gpu.2.smi.reset", "lost");
            node.set("gpu.3.smi.reset-time", "1s");
            long start = System.nanoTime();
            assertThat(run(node, "-r").output())
                    .contains("The following GPUs could not be reset:\n", ": GPU is lost\n\n1 device did not complete");
            assertThat(System.nanoTime() - start).isGreaterThan(1_000_000_000L);
            assertThat(node.control().gpus())
                    .extracting(NodeControl.Gpu::fit)
                    .containsExactly(true, false, false, true);
            assertThat(run(node, "-r", "-i", "2").code()).isEqualTo(15);
        }
    }
}
