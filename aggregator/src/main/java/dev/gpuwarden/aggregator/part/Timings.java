package dev.gpuwarden.aggregator.part;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Durations since the start, for metrics. Thread-safe. */
public final class Timings {

    private final long longestMicros;
    private final ConcurrentHistogram micros;

    /** @param longest longer durations count as this one */
    public Timings(Duration longest) {
        this.longestMicros = TimeUnit.NANOSECONDS.toMicros(longest.toNanos());
        this.micros = new ConcurrentHistogram(longestMicros, 2);
    }

    /** @param time may have any length: another program may have written one of the two times */
    public void add(Duration time) {
        if (time.isNegative()) {
            add(0);
        } else {
            add(time.toSeconds() > TimeUnit.MICROSECONDS.toSeconds(longestMicros) ? Long.MAX_VALUE : time.toNanos());
        }
    }

    public void add(long nanos) {
        micros.recordValue(Math.max(0, Math.min(longestMicros, TimeUnit.NANOSECONDS.toMicros(nanos))));
    }

    /** Returns the durations in microseconds. */
    public Histogram micros() {
        return micros.copy();
    }
}
