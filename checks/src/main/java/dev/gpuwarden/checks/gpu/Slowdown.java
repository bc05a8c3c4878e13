package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.time.Duration;

/**
 * One reason for low clocks, evaluated by its share of the last ten minutes. A single sample is weak evidence, since
 * the hardware's bit also shows while clocks merely change (nvml.h, nvmlClocksEventReasonHwSlowdown).
 *
 * @param bits mask of the reasons
 * @param unless bits that exclude a sample, because another rule reports it
 * @param measure name of the limit for the share
 */
record Slowdown(String code, String what, long bits, long unless, String measure, String remedy) {

    // nvml.h 13.3, nvmlClocksEventReason*. HW_SLOWDOWN is also set with either of the two hardware reasons.
    static final long HW_SLOWDOWN = 0x8;
    static final long SW_THERMAL = 0x20;
    static final long HW_THERMAL = 0x40;
    static final long POWER_BRAKE = 0x80;

    /** The window of gpud: 6 events in 10 minutes. */
    static final Duration WINDOW = Duration.ofMinutes(10);

    /**
     * Evaluates the reason. Until history covers the window, the reason at this moment stands for it. The check is
     * damped, so several runs in a row must agree, as in NVSentinel.
     *
     * @return whether it added a part
     */
    boolean evaluate(FindingBuilder builder, long now, Limit limit) {
        Reading<Double> share = share(builder.history());
        if (share instanceof Reading.Absent<Double> absent) {
            boolean set = (now & bits) != 0 && (now & unless) == 0;
            if (set) {
                builder.warn(code, what + " holds clocks down now; its share of the time is not known yet", remedy);
            } else {
                builder.noHistory(absent, what);
            }
            return set;
        }
        double part = share.asOptional().orElse(0.0);
        boolean often = part >= limit.value();
        if (often) {
            builder.warn(
                    code,
                    "expected clocks held down by " + what + " for less than " + LimitText.brief(limit)
                            + " of the last 10 minutes, but it was " + LimitText.percent(part),
                    remedy,
                    LimitText.atMost(measure, part, limit));
        }
        return often;
    }

    private Reading<Double> share(GpuHistory history) {
        Reading<Double> with = history.share(GpuMetric.CLOCK_EVENT_REASONS, bits | unless, WINDOW);
        if (unless == 0 || !(with instanceof Reading.Present<Double> all)) {
            return with;
        }
        return history.share(GpuMetric.CLOCK_EVENT_REASONS, unless, WINDOW)
                .map(others -> Math.max(0, all.value() - others));
    }
}
