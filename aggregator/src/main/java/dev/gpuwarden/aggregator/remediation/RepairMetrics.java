package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Counters of repairs, and the present stage of each node. Thread-safe. */
public final class RepairMetrics {

    private static final long LONGEST_MICROS = TimeUnit.HOURS.toMicros(2);

    private final Map<String, LongAdder> results = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> decisions = new ConcurrentHashMap<>();
    private final Map<String, Kind> stages = new ConcurrentHashMap<>();
    private final ConcurrentHistogram micros = new ConcurrentHistogram(LONGEST_MICROS, 2);

    void stage(String node, Kind kind) {
        stages.put(node, kind);
    }

    void forget(String node) {
        stages.remove(node);
    }

    void forgetAll() {
        stages.clear();
    }

    void decided(String kind) {
        decisions.computeIfAbsent(kind, any -> new LongAdder()).increment();
    }

    void ended(Repair repair, Repair.Result result) {
        String name = repair.group().kind().resources().kind() + " "
                + result.outcome().name().toLowerCase(Locale.ROOT);
        results.computeIfAbsent(name, any -> new LongAdder()).increment();
        long took = TimeUnit.MILLISECONDS.toMicros(
                Math.max(0, Duration.between(repair.at(), result.at()).toMillis()));
        micros.recordValue(Math.min(LONGEST_MICROS, took));
    }

    /** Returns the number of nodes by stage: wait, drain, approval, person, blocked, act or none. */
    public Map<String, Long> stages() {
        Map<String, Long> counts = new TreeMap<>();
        for (Kind kind : Kind.values()) {
            counts.put(kind.name().toLowerCase(Locale.ROOT), 0L);
        }
        stages.values().forEach(kind -> counts.merge(kind.name().toLowerCase(Locale.ROOT), 1L, Long::sum));
        return counts;
    }

    /** Returns the number of decisions, by kind. */
    public Map<String, Long> decisions() {
        return sums(decisions);
    }

    /** Returns the number of ended attempts, by kind and result, for example `GPUReset failed`. */
    public Map<String, Long> results() {
        return sums(results);
    }

    /** Returns the time from the decision to the end of the resource, in microseconds. */
    public Histogram micros() {
        return micros.copy();
    }

    private static Map<String, Long> sums(Map<String, LongAdder> counts) {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((name, count) -> sums.put(name, count.sum()));
        return sums;
    }
}
