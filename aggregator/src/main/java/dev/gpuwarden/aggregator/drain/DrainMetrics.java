package dev.gpuwarden.aggregator.drain;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** What came of drains. Thread-safe. */
public final class DrainMetrics {

    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(5);

    private final Map<String, LongAdder> pods = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> drains = new ConcurrentHashMap<>();
    private final ConcurrentHistogram micros = new ConcurrentHistogram(LONGEST_MICROS, 2);

    void asked(String outcome) {
        pods.computeIfAbsent(outcome, any -> new LongAdder()).increment();
    }

    void drain(String what) {
        drains.computeIfAbsent(what, any -> new LongAdder()).increment();
    }

    void finishedAfter(long nanos) {
        micros.recordValue(Math.min(LONGEST_MICROS, TimeUnit.NANOSECONDS.toMicros(nanos)));
    }

    /** Requests to end a pod, by what came of them. */
    public Map<String, Long> pods() {
        return sums(pods);
    }

    /** Drains by what was decided. */
    public Map<String, Long> drains() {
        return sums(drains);
    }

    /** From the end of a node's last pod to the drain said to be finished, in microseconds. */
    public Histogram micros() {
        return micros.copy();
    }

    private static Map<String, Long> sums(Map<String, LongAdder> counts) {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((name, count) -> sums.put(name, count.sum()));
        return sums;
    }
}
