package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.compute.Spread;
import dev.gpuwarden.core.compute.WorkReadings;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/** Power, clocks and temperature during a check's work, as parts and values of a finding. */
final class WorkEvidence {

    /** Samples without which a GPU is not compared by its readings: fewer are the edges of the work. */
    private static final int LEAST_SAMPLES = 3;

    private WorkEvidence() {}

    /** @param siblings readings of equal boards in the same run */
    static void add(FindingBuilder builder, List<WorkReadings> siblings) {
        WorkReadings own = builder.work();
        builder.limit("straggler_share")
                .ifPresent(limit -> compare(
                        builder, "SM clock", "MHz", limit, own, siblings, WorkReadings::smMegahertz, Spread::median));
        // Work takes a part of the time alone, and power falls in between.
        builder.limit("straggler_power_share")
                .ifPresent(limit -> compare(
                        builder, "highest power", "W", limit, own, siblings, WorkReadings::watts, Spread::most));
        GpuFrame frame = builder.frame();
        values(
                builder,
                "power_during_work_watts",
                own.watts(),
                frame.present(GpuMetric.POWER_LIMIT_ENFORCED)
                        ? atMost(frame.raw(GpuMetric.POWER_LIMIT_ENFORCED) / 1e3, "the power limit in force")
                        : "");
        values(builder, "sm_clock_during_work_megahertz", own.smMegahertz(), "");
        values(builder, "memory_clock_during_work_megahertz", own.memoryMegahertz(), "");
        values(
                builder,
                "temperature_during_work_celsius",
                own.celsius(),
                frame.present(GpuMetric.TEMPERATURE_MAX_OPERATING)
                        ? atMost(frame.raw(GpuMetric.TEMPERATURE_MAX_OPERATING), "as the board reports it")
                        : builder.limit("temperature_max_operating_celsius")
                                .map(limit -> atMost(limit.value(), limit.source()))
                                .orElse(""));
    }

    private static String atMost(double value, String source) {
        return "at most " + LimitText.number(value) + " (" + source + ")";
    }

    private static void compare(
            FindingBuilder builder,
            String what,
            String unit,
            Limit limit,
            WorkReadings own,
            List<WorkReadings> siblings,
            Function<WorkReadings, Reading<Spread>> reading,
            ToDoubleFunction<Spread> value) {
        reading.apply(own)
                .asOptional()
                .filter(WorkEvidence::isEnough)
                .ifPresent(spread -> Straggling.amongSiblings(
                        builder,
                        what,
                        unit,
                        limit,
                        value.applyAsDouble(spread),
                        siblings.stream()
                                .flatMap(other -> reading.apply(other).asOptional().stream())
                                .filter(WorkEvidence::isEnough)
                                .map(value::applyAsDouble)
                                .toList()));
    }

    private static boolean isEnough(Spread spread) {
        return spread.samples() >= LEAST_SAMPLES;
    }

    /** Adds the median, and the range under the same name after "least" and "most". */
    private static void values(FindingBuilder builder, String name, Reading<Spread> reading, String expected) {
        reading.asOptional()
                .ifPresent(spread -> builder.evidence(
                        new Measurement(name, spread.median(), expected),
                        new Measurement("least_" + name, spread.least(), ""),
                        new Measurement("most_" + name, spread.most(), "")));
    }
}
