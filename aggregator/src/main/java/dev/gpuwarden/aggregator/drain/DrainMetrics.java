package dev.gpuwarden.aggregator.drain;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Counters of drains and their pods. Thread-safe. */
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

    /** Returns the number of requests to end a pod, by result. */
    public Map<String, Long> pods() {
        return sums(pods);
    }

    /** Returns the number of decisions about drains, by kind. */
    public Map<String, Long> drains() {
        return sums(drains);
    }

    /** Returns the time from the end of a node's last pod to the write that finishes the drain, in microseconds. */
    public Histogram micros() {
        return micros.copy();
    }

    private static Map<String, Long> sums(Map<String, LongAdder> counts) {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((name, count) -> sums.put(name, count.sum()));
        return sums;
    }
}
