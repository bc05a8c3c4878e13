package dev.gpuwarden.aggregator.part;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counts since the start by label, for metrics. Thread-safe. */
public final class Counts<K extends Comparable<? super K>> {

    private final Map<K, LongAdder> counts = new ConcurrentHashMap<>();

    public void add(K label) {
        add(label, 1);
    }

    /** @param count 0 to report a label before it is counted first */
    public void add(K label, long count) {
        counts.computeIfAbsent(label, any -> new LongAdder()).add(count);
    }

    public Map<K, Long> sums() {
        Map<K, Long> sums = new TreeMap<>();
        counts.forEach((label, count) -> sums.put(label, count.sum()));
        return sums;
    }
}
