package dev.gpuwarden.aggregator.vram;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts since the start, for metrics. Thread-safe. */
public final class VramMetrics {

    private final Map<String, LongAdder> advertised = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> removals = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> waiting = new ConcurrentHashMap<>();
    private final LongAdder lists = new LongAdder();

    void advertised(String outcome) {
        advertised.computeIfAbsent(outcome, any -> new LongAdder()).increment();
    }

    void removed(String outcome) {
        removals.computeIfAbsent(outcome, any -> new LongAdder()).increment();
    }

    void waiting(String outcome) {
        waiting.computeIfAbsent(outcome, any -> new LongAdder()).increment();
    }

    void listed() {
        lists.increment();
    }

    /** Returns the number of reconciles of an advertised value, by outcome. */
    public Map<String, Long> advertised() {
        return sums(advertised);
    }

    /** Returns the number of requests to end a pod, by outcome. */
    public Map<String, Long> removals() {
        return sums(removals);
    }

    /** Returns the number of Events of pods that wait, by outcome. */
    public Map<String, Long> waiting() {
        return sums(waiting);
    }

    /** Returns the number of lists of budgets that were sent to nodes. */
    public long lists() {
        return lists.sum();
    }

    private static Map<String, Long> sums(Map<String, LongAdder> counts) {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((name, count) -> sums.put(name, count.sum()));
        return sums;
    }
}
