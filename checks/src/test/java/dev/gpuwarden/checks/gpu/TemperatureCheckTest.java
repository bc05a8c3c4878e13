package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TemperatureCheckTest {

    private static final BoardLimits LIMITS = BoardLimits.shipped();

    private static GpuSnapshot at(String product, long now, Object... readings) {
        return Gpus.gpu(0, product, frame -> {
            Gpus.put(frame, GpuMetric.TEMPERATURE, now);
            for (int i = 0; i < readings.length; i += 2) {
                Gpus.put(frame, (GpuMetric) readings[i], (Integer) readings[i + 1]);
            }
        });
    }

    private static String judged(GpuSnapshot gpu) {
        Finding finding = Gpus.finding(new TemperatureCheck(), gpu, GpuHistory.NONE, LIMITS);
        return finding.outcome() + " " + finding.code();
    }

    @ParameterizedTest
    @CsvSource({
        "86, 0, PASS temperature-normal",
        "87, -1, WARN temperature-high",
        "60, -1, WARN temperature-high",
        "59, -1, SKIPPED margin-not-credible",
        "30, -40, SKIPPED margin-not-credible",
        "59, 1, PASS temperature-normal",
    })
    void marginIsUsedUnlessImplausible(long now, int margin, String judged) {
        assertThat(judged(at("NVIDIA B200", now, GpuMetric.TEMPERATURE_MARGIN, margin)))
                .isEqualTo(judged);
    }

    @Test
    void limitsOfOlderBoardsAreUsed() {
        String v100 = "Tesla V100-SXM2-32GB";
        assertThat(judged(at(v100, 84, GpuMetric.TEMPERATURE_MAX_OPERATING, 83, GpuMetric.TEMPERATURE_SLOWDOWN, 87)))
                .isEqualTo("WARN temperature-high");
        assertThat(judged(at(v100, 86, GpuMetric.TEMPERATURE_SLOWDOWN, 87))).isEqualTo("PASS temperature-normal");
        assertThat(judged(at(v100, 88, GpuMetric.TEMPERATURE_SLOWDOWN, 87))).isEqualTo("WARN temperature-high");
    }

    @ParameterizedTest
    @CsvSource({
        "NVIDIA H100 80GB HBM3, 87, WARN temperature-high",
        "NVIDIA H200 NVL, 95, PASS temperature-normal",
        "NVIDIA RTX 6000 Ada Generation, 95, SKIPPED not-supported",
    })
    void limitTableIsUsedWithoutABoardLimit(String product, long now, String judged) {
        assertThat(judged(at(product, now))).isEqualTo(judged);
    }

    @Test
    void userLimitWarnsEarlier() {
        var limits = LIMITS.overriddenBy(
                List.of(new BoardLimits.Row(BoardLimits.ANY, "temperature_margin_celsius", 10, "l.yaml:1")));
        Finding finding = Gpus.finding(
                new TemperatureCheck(),
                at("NVIDIA B200", 80, GpuMetric.TEMPERATURE_MARGIN, 9),
                GpuHistory.NONE,
                limits);
        assertThat(finding.message())
                .endsWith("expected at least 10 (l.yaml:1) degrees to the end of normal operation, but there are 9 at"
                        + " 80 °C");
    }

    @Test
    void memoryIsComparedWithItsOwnLimit() {
        GpuSnapshot hot = at(
                "NVIDIA A100-SXM4-80GB",
                50,
                GpuMetric.TEMPERATURE_MAX_OPERATING,
                85,
                GpuMetric.MEMORY_TEMPERATURE,
                96,
                GpuMetric.TEMPERATURE_MEMORY_MAX,
                95);
        assertThat(judged(hot)).isEqualTo("WARN memory-temperature-high");
    }
}
