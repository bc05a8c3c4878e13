package dev.gpuwarden.aggregator.janitor;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/** Counters of the janitor. Thread-safe. */
public final class JanitorMetrics {

    private final Map<String, LongAdder> completed = new ConcurrentHashMap<>();
    private final LongAdder writes = new LongAdder();

    void wrote(Maintenance resource, Step step) {
        writes.increment();
        if (step instanceof Step.SetStatus status) {
            status.change()
                    .result()
                    .ifPresent(success -> completed
                            .computeIfAbsent(
                                    resource.kind().resources().kind() + " " + (success ? "succeeded" : "failed"),
                                    any -> new LongAdder())
                            .increment());
        }
    }

    /** Returns the number of completed resources, by kind and result with a space between. */
    public Map<String, Long> completed() {
        Map<String, Long> sums = new TreeMap<>();
        completed.forEach((name, count) -> sums.put(name, count.sum()));
        return sums;
    }

    /** Returns the number of writes. */
    public long writes() {
        return writes.sum();
    }
}
