package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.List;
import java.util.OptionalDouble;
import java.util.function.Supplier;

/**
 * The metric of IBM Autopilot, for dashboards and alerts made for it. Its code calls the check `health`, its
 * documentation `check`: both labels are present, with the same value. A reading that is absent has no series;
 * Autopilot exports 0.
 *
 * @param results the last results of checks
 */
public record AutopilotCollector(Supplier<String> nodeName, String cpuModel, Supplier<List<CheckResult>> results) {

    /** nvml.h, nvmlClocksEventReasonHwSlowdown. */
    private static final long HARDWARE_SLOWDOWN = 0x8;

    public Collector collector() {
        return new Collector("autopilot", this::collect);
    }

    private void collect(Collector.Scrape scrape, Family.Series out) {
        List<CheckResult> last = results.get();
        for (GpuSnapshot gpu : scrape.node().gpus()) {
            add(out, gpu, "pciebw", copies(last, gpu));
            add(out, gpu, "remapped", remapped(gpu.frame()));
            add(out, gpu, "power-slowdown", slowed(gpu.frame()));
        }
    }

    private void add(Family.Series out, GpuSnapshot gpu, String check, OptionalDouble value) {
        if (value.isPresent()) {
            Labels labels = Labels.of(
                    "check",
                    check,
                    "cpumodel",
                    cpuModel,
                    "deviceid",
                    Integer.toString(gpu.identity().index()),
                    "gpumodel",
                    GpuCollector.text(gpu.identity().name()),
                    "health",
                    check,
                    "node",
                    nodeName.get());
            out.add("autopilot_health_checks", labels, value.getAsDouble());
        }
    }

    /** Returns GB/s of the slower direction in the last measurement. */
    private static OptionalDouble copies(List<CheckResult> results, GpuSnapshot gpu) {
        return results.stream()
                .filter(result -> result.check().id().equals("pciebw"))
                .flatMap(result -> result.findings().stream())
                .filter(finding ->
                        finding.subject().label().equals(gpu.identity().label()))
                .flatMap(finding -> finding.evidence().stream())
                .filter(measured -> measured.name().startsWith("to_"))
                .mapToDouble(Measurement::value)
                .min();
    }

    private static OptionalDouble remapped(GpuFrame frame) {
        boolean known =
                frame.present(GpuMetric.REMAPPED_ROWS_PENDING) && frame.present(GpuMetric.REMAPPED_ROWS_FAILURE);
        if (!known) {
            return OptionalDouble.empty();
        }
        boolean bad =
                frame.raw(GpuMetric.REMAPPED_ROWS_PENDING) != 0 || frame.raw(GpuMetric.REMAPPED_ROWS_FAILURE) != 0;
        return OptionalDouble.of(bad ? 1 : 0);
    }

    private static OptionalDouble slowed(GpuFrame frame) {
        if (!frame.present(GpuMetric.CLOCK_EVENT_REASONS)) {
            return OptionalDouble.empty();
        }
        return OptionalDouble.of((frame.raw(GpuMetric.CLOCK_EVENT_REASONS) & HARDWARE_SLOWDOWN) != 0 ? 1 : 0);
    }
}
