package dev.gpuwarden.aggregator.objectmonitor;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The cost and the speed of the object monitor. Thread-safe. */
public final class MonitorMetrics {

    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(5);

    private final LongAdder received = new LongAdder();
    private final LongAdder writes = new LongAdder();
    private final ConcurrentHistogram evaluations = new ConcurrentHistogram(LONGEST_MICROS, 2);
    private final ConcurrentHistogram changeToEvent = new ConcurrentHistogram(LONGEST_MICROS, 2);

    void received() {
        received.increment();
    }

    void wrote() {
        writes.increment();
    }

    void evaluated(long nanos) {
        evaluations.recordValue(micros(nanos));
    }

    /** Records the time from the arrival of a change until the fault is stored. */
    void reported(long nanos) {
        changeToEvent.recordValue(micros(nanos));
    }

    private static long micros(long nanos) {
        return Math.max(0, Math.min(LONGEST_MICROS, TimeUnit.NANOSECONDS.toMicros(nanos)));
    }

    /** Returns the number of objects that the API server sent, with repetitions. */
    public long changes() {
        return received.sum();
    }

    /** Returns the number of NodeHealths that were written. */
    public long written() {
        return writes.sum();
    }

    /**
     * Returns the durations in microseconds for one policy and one object. An evaluation that foresees changes runs several
     * times.
     */
    public Histogram evaluationMicros() {
        return evaluations.copy();
    }

    public Histogram changeToEventMicros() {
        return changeToEvent.copy();
    }
}
