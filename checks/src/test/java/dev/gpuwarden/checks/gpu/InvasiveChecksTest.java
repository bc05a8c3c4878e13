package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Kernels on simulated nodes: the arithmetic is that of the shipped kernels. GPU 0 of the scenario has a workload. */
class InvasiveChecksTest {

    private static GpuResultsCheck results() {
        return new GpuResultsCheck(Duration.ZERO, () -> {});
    }

    private static List<String> judged(HealthCheck check, SimulatedNode node) {
        return check.run(CheckContexts.computing(node, BoardLimits.shipped())).stream()
                .map(finding -> finding.outcome() + " " + finding.code())
                .toList();
    }

    @Test
    void healthyBoardsPassAndShowTheirRates() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            List<Finding> memory = new GpuMemoryCheck().run(CheckContexts.computing(node, BoardLimits.shipped()));
            assertThat(memory.subList(1, 4)).allSatisfy(finding -> {
                assertThat(finding.code()).as(finding.message()).isEqualTo("gpu-memory-good");
                assertThat(finding.evidence())
                        .extracting(measured -> measured.name())
                        .startsWith(
                                "memory_tested_mebibytes", "daxpy_gigabytes_per_second", "dgemm_teraflops_per_second")
                        .contains("power_during_work_watts", "least_power_during_work_watts")
                        .contains("most_temperature_during_work_celsius", "sm_clock_during_work_megahertz");
                assertThat(finding.evidence())
                        .filteredOn(measured -> measured.name().equals("power_during_work_watts"))
                        .allMatch(measured -> measured.expected().equals("at most 72 (the power limit in force)"));
            });
            assertThat(judged(results(), node).subList(1, 4)).containsOnly("PASS gpu-results-right");
        }
    }

    @Test
    void gpuThatComputesWrongIsNamedWithItsSm() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.2.cuda.wrong.pattern", "bit");
            node.set("gpu.2.cuda.wrong.sm", "5");
            node.set("gpu.2.cuda.wrong.kernel", "wmma_product");
            List<Finding> findings = results().run(CheckContexts.computing(node, BoardLimits.shipped()));
            assertThat(findings)
                    .extracting(Finding::code)
                    .containsExactly("gpu-held", "gpu-results-right", "wrong-result", "gpu-results-right");
            assertThat(findings.get(2).message()).contains("GPU 2", "SM 5", "expected 0x", "seen 0x");
        }
    }

    @Test
    void oneWrongResultIsNoFaultYet() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.1.cuda.wrong.pattern", "bits");
            node.set("gpu.1.cuda.wrong.times", "1");
            node.set("gpu.1.cuda.wrong.kernel", "daxpy");
            assertThat(judged(new GpuMemoryCheck(), node))
                    .containsExactly(
                            "SKIPPED gpu-held",
                            "WARN wrong-result-once",
                            "PASS gpu-memory-good",
                            "PASS gpu-memory-good");
        }
    }

    @Test
    void slowGpuIsNamedWithItsSiblingsRates() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.3.copy.memory", "60000");
            Finding slow = new GpuMemoryCheck()
                    .run(CheckContexts.computing(node, BoardLimits.shipped()))
                    .get(3);
            assertThat(slow.code()).isEqualTo("straggler");
            assertThat(slow.message()).contains("GPU 3", "DAXPY", "% of the median of 2 equal GPUs");
        }
    }
}
