package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
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

    /**
     * @param kind kind of the resource
     * @param result succeeded, failed, deleted or withdrawn
     */
    public record Ended(String kind, String result) implements Comparable<Ended> {

        private static final Comparator<Ended> ORDER =
                Comparator.comparing(Ended::kind).thenComparing(Ended::result);

        static Ended of(RepairKind kind, Repair.Outcome outcome) {
            return new Ended(kind.resources().kind(), outcome.name().toLowerCase(Locale.ROOT));
        }

        @Override
        public int compareTo(Ended other) {
            return ORDER.compare(this, other);
        }
    }

    private final Map<Ended, LongAdder> results = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> decisions = new ConcurrentHashMap<>();
    private final Map<String, Kind> stages = new ConcurrentHashMap<>();
    private final ConcurrentHistogram micros = new ConcurrentHistogram(LONGEST_MICROS, 2);

    /** Creates all counters of results, since an increase is measured from an earlier value. */
    RepairMetrics() {
        for (MaintenanceKind kind : List.of(MaintenanceKind.GPU_RESET, MaintenanceKind.REBOOT_NODE)) {
            for (Repair.Outcome outcome : Repair.Outcome.values()) {
                results.put(Ended.of(kind, outcome), new LongAdder());
            }
        }
    }

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
        results.computeIfAbsent(Ended.of(repair.group().kind(), result.outcome()), any -> new LongAdder())
                .increment();
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

    /** Returns the number of ended attempts. */
    public Map<Ended, Long> results() {
        return sums(results);
    }

    /** Returns the time from the decision to the end of the resource, in microseconds. */
    public Histogram micros() {
        return micros.copy();
    }

    private static <K extends Comparable<K>> Map<K, Long> sums(Map<K, LongAdder> counts) {
        Map<K, Long> sums = new TreeMap<>();
        counts.forEach((name, count) -> sums.put(name, count.sum()));
        return sums;
    }
}
