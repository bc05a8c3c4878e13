package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.history.RateFile;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Clocks, power, temperature and earlier rates beside work on simulated nodes. GPU 0 of the scenario has a workload. */
class WorkReadingsOnNodesTest {

    private static GpuResultsCheck results() {
        return new GpuResultsCheck(Duration.ZERO, () -> {});
    }

    @Test
    void gpuThatComputesWrongOnlyWhenWarmIsNamedWithTheTemperature() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.2.temperature", "44C");
            node.set("gpu.2.cuda.wrong.pattern", "bit");
            node.set("gpu.2.cuda.wrong.above", "60C");
            node.set("gpu.2.cuda.wrong.kernel", "wmma_product");
            GpuResultsCheck check =
                    new GpuResultsCheck(Duration.ofMillis(50), () -> node.set("gpu.2.temperature", "78C"));
            List<Finding> findings = check.run(CheckContexts.computing(node, BoardLimits.shipped()));
            assertThat(findings)
                    .extracting(Finding::code)
                    .containsExactly("gpu-held", "gpu-results-right", "wrong-result", "gpu-results-right");
            assertThat(findings.get(2).message())
                    .contains("tensor cores at 78 C, after ")
                    .doesNotContain("at 44 C");
            assertThat(findings.get(1).message()).contains(" C, immediately and at ");
        }
    }

    @Test
    void gpuWithLowClockAndPowerIsNamedWithTheReasonThatHoldsItDown() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            for (int gpu = 1; gpu < 4; gpu++) {
                node.set("gpu." + gpu + ".clock.sm", "2040");
                node.set("gpu." + gpu + ".power.usage", "70W");
            }
            node.set("gpu.2.clock.sm", "900");
            node.set("gpu.2.power.usage", "30W");
            node.set("gpu.2.clock.reasons", "hw-thermal");
            List<Finding> findings = results().run(CheckContexts.computing(node, BoardLimits.shipped()));
            assertThat(findings)
                    .extracting(Finding::code)
                    .containsExactly("gpu-held", "gpu-results-right", "straggler", "gpu-results-right");
            assertThat(findings.get(2).message())
                    .contains("SM clock: 900.0 MHz; 44.1 % of the median of 2 equal GPUs (2040.0 MHz; at least 90.0 %)")
                    .contains("highest power: 30.0 W; 42.9 % of the median", "clocks held down by hw_thermal_slowdown");
        }
    }

    @Test
    void onlyGpuOfANodeIsComparedWithItsOwnHistory() {
        RateHistory rates = new FiveDays();
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Finding first = alone(node, rates);
            assertThat(first.code()).isEqualTo("gpu-results-right");
            assertThat(first.message()).contains("no equal GPU to compare with, so its history alone decides");
            node.set("gpu.0.compute.tensor", "4000");
            Finding slow = alone(node, rates);
            assertThat(slow.code()).isEqualTo("straggler");
            assertThat(slow.message()).contains("% of the median of its 5 earlier rates", "at least 80.0 %");
            node.set("gpu.0.power.limit", "60W");
            assertThat(alone(node, rates).message()).contains("only 0 of 5 earlier rates");
        }
    }

    private static Finding alone(SimulatedNode node, RateHistory rates) {
        return results()
                .run(CheckContexts.computing(node, BoardLimits.shipped(), rates))
                .get(0);
    }

    /** A history in which each run counts as five. */
    private static final class FiveDays implements RateHistory {

        private final RateFile rates = RateFile.open(Optional.empty());

        @Override
        public List<Double> earlier(String gpu, String work, String settings) {
            return rates.earlier(gpu, work, settings);
        }

        @Override
        public void keep(String gpu, String work, String settings, double rate) {
            for (int day = 0; day < 5; day++) {
                rates.keep(gpu, work, settings, rate);
            }
        }

        @Override
        public List<Series> series(Collection<String> gpus) {
            return rates.series(gpus);
        }
    }
}
