package dev.gpuwarden.daemon.check.gpu;

import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.compute.EqualBoard;
import dev.gpuwarden.core.compute.StragglerVerdict;
import dev.gpuwarden.core.compute.StragglerVerdict.Outcome;
import dev.gpuwarden.core.compute.Stragglers;
import dev.gpuwarden.core.compute.Stragglers.Sample;
import dev.gpuwarden.core.compute.WorkReadings;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A value that falls behind equal boards in the same run, or behind the GPU's own history, as a part of a finding. */
final class Straggling {

    private static final String REMEDY =
            "compare clocks, power limit and temperature with its siblings; check cooling and power supply";

    private Straggling() {}

    /** @param siblings rates of equal boards in this run, in the same unit */
    static void add(FindingBuilder builder, String work, String unit, double rate, List<Double> siblings) {
        builder.limit("straggler_share").ifPresent(limit -> amongSiblings(builder, work, unit, limit, rate, siblings));
    }

    /** Compares with equal boards alone. */
    static void amongSiblings(
            FindingBuilder builder, String what, String unit, Limit limit, double value, List<Double> siblings) {
        List<Sample> samples = new ArrayList<>();
        EqualBoard board = EqualBoard.of(builder.gpu());
        samples.add(sample(board, value));
        siblings.forEach(other -> samples.add(sample(board, other)));
        StragglerVerdict verdict = Stragglers.judge(
                        samples, new Stragglers.Limits(limit.value(), limit.value(), 0), unit)
                .get(0);
        if (verdict.outcome() == Outcome.SLOW) {
            builder.warn(
                    "straggler",
                    what + verdict.text() + " (" + limit.source() + ")" + then(builder.work(), builder.frame()),
                    REMEDY);
        }
    }

    private static Sample sample(EqualBoard board, double rate) {
        return new Sample("", board, Reading.of(rate), List.of());
    }

    /** Returns the readings that usually explain a slow GPU. */
    private static String then(WorkReadings work, GpuFrame frame) {
        List<String> all = new ArrayList<>();
        String during = work.text();
        if (during.isEmpty() && frame.present(GpuMetric.TEMPERATURE)) {
            all.add("before the run: " + frame.raw(GpuMetric.TEMPERATURE) + " C");
        } else if (!during.isEmpty()) {
            all.add("during the work: " + during);
        }
        if (frame.present(GpuMetric.POWER_LIMIT_ENFORCED)) {
            all.add(String.format(Locale.ROOT, "power limit %.0f W", frame.raw(GpuMetric.POWER_LIMIT_ENFORCED) / 1e3));
        }
        return all.isEmpty() ? "" : "; " + String.join(", ", all);
    }
}
