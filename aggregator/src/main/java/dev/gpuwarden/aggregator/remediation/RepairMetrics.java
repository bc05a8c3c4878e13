package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.aggregator.part.Counts;
import dev.gpuwarden.aggregator.part.Timings;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Counters of repairs, and the present stage of each node. Thread-safe. */
public final class RepairMetrics {

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

    /** The ended attempts. */
    public final Counts<Ended> results = new Counts<>();

    /** The decisions, by kind. */
    final Counts<String> decisions = new Counts<>();

    /** The times from the decision to the end of the resource. */
    final Timings times = new Timings(Duration.ofHours(2));

    private final Map<String, Kind> stages = new ConcurrentHashMap<>();

    /** Creates all counters of results, since an increase is measured from an earlier value. */
    RepairMetrics() {
        for (MaintenanceKind kind : List.of(MaintenanceKind.GPU_RESET, MaintenanceKind.REBOOT_NODE)) {
            for (Repair.Outcome outcome : Repair.Outcome.values()) {
                results.add(Ended.of(kind, outcome), 0);
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

    void ended(Repair repair, Repair.Result result) {
        results.add(Ended.of(repair.group().kind(), result.outcome()));
        times.add(Duration.between(repair.at(), result.at()));
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
}
