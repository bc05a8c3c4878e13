package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.compute.WorkReadings;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.telemetry.ClockEventReason;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.List;
import java.util.Optional;

/** The settings under which a GPU worked: with others its earlier rates are not comparable. Pure. */
final class WorkSettings {

    private static final List<GpuMetric> READINGS = List.of(
            GpuMetric.POWER_LIMIT_ENFORCED, GpuMetric.ECC_MODE, GpuMetric.CLOCK_SM_MAX, GpuMetric.CLOCK_MEMORY_MAX);

    private WorkSettings() {}

    /** Returns the settings as text; empty if one of them could not be read now. */
    static Optional<String> of(NodeSnapshot node, GpuFrame frame, WorkReadings work) {
        StringBuilder text = new StringBuilder();
        if (!(node.driver() instanceof DriverState.Running running)) {
            return Optional.empty();
        }
        text.append("driver ")
                .append(running.info().driverVersion().asOptional().orElse("-"));
        for (GpuMetric metric : READINGS) {
            Reading<Long> reading = frame.reading(metric);
            if (reading instanceof Reading.Absent<Long> absent && !isStatic(absent.cause())) {
                return Optional.empty();
            }
            text.append(", ").append(metric.label()).append(' ');
            text.append(reading.asOptional().map(String::valueOf).orElse("-"));
        }
        if (work.reasons().contains(ClockEventReason.APPLICATIONS_CLOCKS_SETTING)) {
            text.append(", clocks set by the user");
        }
        return Optional.of(text.toString());
    }

    private static boolean isStatic(Absence cause) {
        return cause == Absence.NOT_SUPPORTED || cause == Absence.NO_SYMBOL || cause == Absence.OFF;
    }
}
