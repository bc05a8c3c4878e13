package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PcieLinkCheckTest {

    private static final BoardLimits LIMITS = BoardLimits.shipped();

    private static GpuSnapshot linked(int index, String product, long generation, long lanes) {
        return Gpus.gpu(index, product, frame -> {
            Gpus.put(frame, GpuMetric.PCIE_GENERATION, generation);
            Gpus.put(frame, GpuMetric.PCIE_GENERATION_MAX, 4);
            Gpus.put(frame, GpuMetric.PCIE_WIDTH, lanes);
            Gpus.put(frame, GpuMetric.PCIE_WIDTH_MAX, 16);
            Gpus.put(frame, GpuMetric.PERFORMANCE_STATE, 0);
            Gpus.put(frame, GpuMetric.UTILIZATION_GPU, 90);
        });
    }

    private static String judged(Limits limits, GpuSnapshot... gpus) {
        Finding finding = finding(limits, gpus);
        return finding.outcome() + " " + finding.code();
    }

    private static Finding finding(Limits limits, GpuSnapshot... gpus) {
        NodeSnapshot node = Snapshots.running(gpus.length, gpus);
        return new PcieLinkCheck().finding(gpus[0], Gpus.context(node, GpuHistory.NONE, limits));
    }

    @ParameterizedTest
    @CsvSource({
        "Tesla T4, 4, 8, PASS pcie-link-full",
        "Tesla T4, 4, 4, WARN pcie-width-reduced",
        "Tesla T4, 4, 2, FAIL pcie-link-crippled",
        "NVIDIA A100-SXM4-80GB, 4, 16, PASS pcie-link-full",
        "NVIDIA A100-SXM4-80GB, 4, 8, WARN pcie-width-reduced",
        "NVIDIA A100-SXM4-80GB, 4, 4, FAIL pcie-link-crippled",
        "NVIDIA A100-SXM4-80GB, 3, 16, WARN pcie-generation-reduced",
        "NVIDIA A100-SXM4-80GB, 3, 8, FAIL pcie-link-crippled",
        "NVIDIA A100-SXM4-80GB, 1, 16, FAIL pcie-link-crippled",
        "NVIDIA GH200 480GB, 4, 1, PASS pcie-link-full",
        "NVIDIA A40, 4, 8, PASS pcie-link-full",
        "NVIDIA A40, 4, 4, PASS pcie-link-full",
    })
    void boardLimitSetsTheLanes(String product, long generation, long lanes, String judged) {
        assertThat(judged(LIMITS, linked(0, product, generation, lanes))).isEqualTo(judged);
    }

    @Test
    void peersGiveTheExpectedLinkWithoutALimit() {
        String a40 = "NVIDIA A40";
        assertThat(judged(LIMITS, linked(0, a40, 4, 8), linked(1, a40, 4, 16))).isEqualTo("WARN pcie-width-reduced");
        assertThat(judged(LIMITS, linked(0, a40, 4, 8), linked(1, a40, 4, 8))).isEqualTo("PASS pcie-link-full");
        assertThat(judged(LIMITS, linked(0, a40, 4, 8), linked(1, "NVIDIA A30", 4, 16)))
                .isEqualTo("PASS pcie-link-full");
    }

    @Test
    void userLimitsSetLanesAndGeneration() {
        Limits pinned = LIMITS.overriddenBy(List.of(
                new BoardLimits.Row(BoardLimits.ANY, "pcie_width_lanes", 8, "l.yaml:1"),
                new BoardLimits.Row(BoardLimits.ANY, "pcie_generation", 3, "l.yaml:2")));
        assertThat(judged(pinned, linked(0, "NVIDIA A100-SXM4-80GB", 3, 8))).isEqualTo("PASS pcie-link-full");
        Finding finding = finding(pinned, linked(0, "NVIDIA A40", 2, 8));
        assertThat(finding.message())
                .endsWith("expected generation 3 with 8 lanes (l.yaml:2), but the link has generation 2 with 8 lanes,"
                        + " 51 % of the rate");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 90, 0x4, 1, FAIL pcie-link-crippled",
        "8, 90, 0x4, 1, SKIPPED pcie-link-idle",
        "0, 0, 0x0, 1, SKIPPED pcie-link-idle",
        "0, 90, 0x1, 1, SKIPPED pcie-link-idle",
        "8, 0, 0x1, 4, PASS pcie-link-full",
    })
    void generationIsEvaluatedWhileTheGpuWorks(
            long state, long utilization, String reasons, long generation, String judged) {
        GpuSnapshot gpu = linked(0, "Tesla T4", generation, 16);
        Gpus.put(gpu.frame(), GpuMetric.PERFORMANCE_STATE, state);
        Gpus.put(gpu.frame(), GpuMetric.UTILIZATION_GPU, utilization);
        Gpus.put(gpu.frame(), GpuMetric.CLOCK_EVENT_REASONS, Long.decode(reasons));
        assertThat(judged(LIMITS, gpu)).isEqualTo(judged);
    }

    @Test
    void lanesOfAnIdleGpuAreEvaluated() {
        GpuSnapshot gpu = linked(0, "NVIDIA H100 PCIe", 1, 8);
        Gpus.put(gpu.frame(), GpuMetric.UTILIZATION_GPU, 0);
        assertThat(judged(LIMITS, gpu)).isEqualTo("WARN pcie-width-reduced");
    }
}
