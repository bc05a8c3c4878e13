package dev.gpuwarden.aggregator.objectmonitor;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** What monitoring costs, and how quick it is. Thread-safe. */
public final class MonitorMetrics {

    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(5);

    private final LongAdder heard = new LongAdder();
    private final LongAdder writes = new LongAdder();
    private final ConcurrentHistogram evaluations = new ConcurrentHistogram(LONGEST_MICROS, 2);
    private final ConcurrentHistogram changeToEvent = new ConcurrentHistogram(LONGEST_MICROS, 2);

    void heard() {
        heard.increment();
    }

    void wrote() {
        writes.increment();
    }

    void evaluated(long nanos) {
        evaluations.recordValue(micros(nanos));
    }

    /** From hearing of a change to what it means being kept for good. */
    void told(long nanos) {
        changeToEvent.recordValue(micros(nanos));
    }

    private static long micros(long nanos) {
        return Math.max(0, Math.min(LONGEST_MICROS, TimeUnit.NANOSECONDS.toMicros(nanos)));
    }

    /** Objects that the API server has told, and told again. */
    public long changes() {
        return heard.sum();
    }

    /** Of NodeHealths. */
    public long written() {
        return writes.sum();
    }

    /** Of one policy and one object, in microseconds; one that foresees changes asks many times. */
    public Histogram evaluationMicros() {
        return evaluations.copy();
    }

    public Histogram changeToEventMicros() {
        return changeToEvent.copy();
    }
}
