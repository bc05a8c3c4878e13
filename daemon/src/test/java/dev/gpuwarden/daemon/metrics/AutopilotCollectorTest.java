package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class AutopilotCollectorTest {

    private static final String LABELS =
            "check=\"%s\",cpumodel=\"Xeon\",deviceid=\"0\",gpumodel=\"NVIDIA H100 80GB HBM3\","
                    + "health=\"%s\",node=\"node-7\"";

    private static List<String> series(Consumer<GpuFrame> change) {
        return series(change, List.of());
    }

    private static List<String> series(Consumer<GpuFrame> change, List<CheckResult> results) {
        GpuFrame frame = NodeFixture.frame();
        change.accept(frame);
        Collector.Scrape scrape =
                Scrapes.scrape(NodeFixture.node(List.of(NodeFixture.gpu(0, GpuState.ANSWERING, frame, List.of()))));
        Exposition exposition = new Exposition(
                MetricsOptions.of(false, false, false),
                () -> List.of(new AutopilotCollector(() -> "node-7", "Xeon", () -> results).collector()));
        return Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(scrape))
                .lines()
                .filter(line -> line.startsWith("autopilot_health_checks{")
                        || line.startsWith("# TYPE autopilot_health_checks "))
                .toList();
    }

    private static String line(String check, String value) {
        return "autopilot_health_checks{" + String.format(LABELS, check, check) + "} " + value;
    }

    @Test
    void bothNamesOfTheCheckAreLabels() {
        assertThat(series(frame -> {}))
                .containsExactly(
                        "# TYPE autopilot_health_checks gauge", line("power-slowdown", "0.0"), line("remapped", "0.0"));
    }

    @Test
    void pendingOrFailedRemapAndSlowdownAreOne() {
        assertThat(series(frame -> NodeFixture.put(frame, GpuMetric.REMAPPED_ROWS_PENDING, 1)))
                .contains(line("remapped", "1.0"));
        assertThat(series(frame -> NodeFixture.put(frame, GpuMetric.REMAPPED_ROWS_FAILURE, 1)))
                .contains(line("remapped", "1.0"));
        assertThat(series(frame -> NodeFixture.put(frame, GpuMetric.CLOCK_EVENT_REASONS, 0x48)))
                .contains(line("power-slowdown", "1.0"));
    }

    @Test
    void measuredCopiesAreGigabytesOfTheSlowerDirection() {
        Finding measured = new Finding(
                Outcome.PASS,
                "pciebw-good",
                Subject.of(NodeFixture.gpu(0, GpuState.ANSWERING, NodeFixture.frame(), List.of())
                        .identity()),
                "51.7 GB/s",
                "",
                RecommendedAction.NONE,
                List.of(
                        new Measurement("to_device_gigabytes_per_second", 51.7, ""),
                        new Measurement("to_host_gigabytes_per_second", 50.2, ""),
                        new Measurement("together_to_host_gigabytes_per_second", 20, "")));
        CheckResult result = CheckResult.of(
                CheckInfo.of("pciebw", "GPU", "Copies."), Instant.EPOCH, Duration.ZERO, List.of(measured));
        assertThat(series(frame -> {}, List.of(result))).contains(line("pciebw", "50.2"));
    }

    @Test
    void absentReadingHasNoSeries() {
        assertThat(series(frame -> {
                    frame.putAbsent(GpuFrame.slot(GpuMetric.REMAPPED_ROWS_FAILURE), Absence.NOT_SUPPORTED, 3);
                    frame.putAbsent(GpuFrame.slot(GpuMetric.CLOCK_EVENT_REASONS), Absence.STALE, 0);
                }))
                .isEmpty();
    }
}
