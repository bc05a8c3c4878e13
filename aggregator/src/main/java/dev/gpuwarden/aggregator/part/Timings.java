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

    public void add(long nanos) {
        micros.recordValue(Math.max(0, Math.min(longestMicros, TimeUnit.NANOSECONDS.toMicros(nanos))));
    }

    /** Returns the durations in microseconds. */
    public Histogram micros() {
        return micros.copy();
    }
}
