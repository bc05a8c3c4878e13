package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.check.RateHistory;
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
import java.util.Optional;

/** A value that falls behind equal boards in the same run, or behind the GPU's own history, as a part of a finding. */
final class Straggling {

    private static final String REMEDY =
            "compare clocks, power limit and temperature with its siblings; check cooling and power supply";

    /** Earlier rates without which the history decides nothing: fewer may be those of a bad day. */
    private static final int LEAST_HISTORY = 5;

    private Straggling() {}

    /**
     * Compares a rate with equal boards and with the GPU's own history, and keeps it for later runs. A rate that is too low is not kept: the
     * history would come down to it.
     *
     * @param siblings rates of equal boards in this run, in the same unit
     */
    static void add(FindingBuilder builder, String work, String unit, double rate, List<Double> siblings) {
        Optional<Limit> ofSiblings = builder.limit("straggler_share");
        Optional<Limit> ofHistory = builder.limit("straggler_history_share");
        if (ofSiblings.isEmpty() || ofHistory.isEmpty()) {
            return;
        }
        RateHistory rates = builder.context().rates();
        String gpu = builder.gpu().identity().selector();
        String key = work + " " + unit;
        Optional<String> settings = WorkSettings.of(builder.context().node(), builder.frame(), builder.work());
        List<Double> earlier = settings.map(now -> rates.earlier(gpu, key, now)).orElse(List.of());
        StragglerVerdict verdict = judge(
                builder,
                unit,
                new Stragglers.Limits(ofSiblings.get().value(), ofHistory.get().value(), LEAST_HISTORY),
                rate,
                earlier,
                siblings);
        if (verdict.outcome() == Outcome.SLOW) {
            warn(builder, work, verdict, LimitText.place(earlier.isEmpty() ? ofSiblings.get() : ofHistory.get()));
            return;
        }
        settings.ifPresent(now -> rates.keep(gpu, key, now, rate));
        if (siblings.isEmpty()) {
            builder.pass("history-decides", work + verdict.text());
        }
    }

    /** Compares with equal boards alone. */
    static void amongSiblings(
            FindingBuilder builder, String what, String unit, Limit limit, double value, List<Double> siblings) {
        StragglerVerdict verdict =
                judge(builder, unit, new Stragglers.Limits(limit.value(), 0, 0), value, List.of(), siblings);
        if (verdict.outcome() == Outcome.SLOW) {
            warn(builder, what, verdict, LimitText.place(limit));
        }
    }

    private static StragglerVerdict judge(
            FindingBuilder builder,
            String unit,
            Stragglers.Limits limits,
            double value,
            List<Double> earlier,
            List<Double> siblings) {
        EqualBoard board = EqualBoard.of(builder.gpu());
        List<Sample> samples = new ArrayList<>();
        samples.add(new Sample("", board, Reading.of(value), earlier));
        siblings.forEach(other -> samples.add(new Sample("", board, Reading.of(other), List.of())));
        return Stragglers.judge(samples, limits, unit).get(0);
    }

    /** Adds the reason, and once for all reasons of a finding what was read at the time of the work. */
    private static void warn(FindingBuilder builder, String what, StragglerVerdict verdict, String place) {
        builder.warn("straggler", what + verdict.text() + " (" + place + ")", REMEDY);
        String readings = then(builder.work(), builder.frame());
        if (!readings.isEmpty()) {
            builder.warn("straggler", readings, REMEDY);
        }
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
        return String.join(", ", all);
    }
}
