package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.time.Duration;

/** The readings of one GPU over the last minutes. Windows are at most {@link #LONGEST}. */
public interface GpuHistory {

    Duration LONGEST = Duration.ofMinutes(15);

    /**
     * Returns the increase of a counter. PENDING while the window is not covered; IMPLAUSIBLE where the counter went
     * backwards, as after a reset; else the cause of the newest value's absence.
     */
    Reading<Long> increase(GpuMetric counter, Duration window);

    /** Returns the increase of a counter of one NVLink, as {@link #increase(GpuMetric, Duration)} does. */
    Reading<Long> increase(int link, LinkMetric counter, Duration window);

    /**
     * Returns the part of the window's samples with any of these bits, from 0 to 1. PENDING while the window is not
     * covered.
     *
     * @param flags a reading that is a set of bits, such as {@code CLOCK_EVENT_REASONS}
     */
    Reading<Double> share(GpuMetric flags, long bits, Duration window);

    /** An empty history, for a single run and for a node's first one. */
    GpuHistory NONE = new GpuHistory() {
        @Override
        public Reading<Long> increase(GpuMetric counter, Duration window) {
            return pending();
        }

        @Override
        public Reading<Long> increase(int link, LinkMetric counter, Duration window) {
            return pending();
        }

        @Override
        public Reading<Double> share(GpuMetric flags, long bits, Duration window) {
            return pending();
        }

        private static <T> Reading<T> pending() {
            return Reading.absent(Absence.PENDING, 0, "a rate needs more than one run");
        }
    };
}
