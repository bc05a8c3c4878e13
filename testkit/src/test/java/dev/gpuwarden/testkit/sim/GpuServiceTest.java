package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuServiceTest {

    private static int smi(SimulatedNode node, String... arguments) throws Exception {
        List<String> command = new ArrayList<>(List.of(node.nvidiaSmi().toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("GPUWARDEN_SIM_ROOT", "1");
        Process process = builder.start();
        process.getInputStream().readAllBytes();
        return process.waitFor();
    }

    @Test
    void noGpuIsResetWhileTheServiceRuns() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("process.31001", "stop");
            node.set("gpu.2.state", "lost");
            assertThat(smi(node, "-pm", "0", "-i", "0,1,3")).isZero();
            Process service = new ProcessBuilder(node.gpuService().toString(), "dcgm").start();
            try (var output =
                    new BufferedReader(new InputStreamReader(service.getInputStream(), StandardCharsets.UTF_8))) {
                assertThat(output.readLine()).isEqualTo("dcgm uses 4 GPUs");
                assertThat(smi(node, "-r", "-i", "0")).isEqualTo(255);
                assertThat(smi(node, "-r", "-i", "3")).isEqualTo(255);
                assertThat(node.root().resolve("run/service-dcgm")).exists();
                service.destroy();
                assertThat(service.waitFor()).isZero();
            }
            assertThat(smi(node, "-r", "-i", "0")).isZero();
        }
    }
}
