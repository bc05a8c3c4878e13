package dev.gpuwarden.daemon.vram.trace;

import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The decisions that a trace gives under some rules. A decision changes nothing in the trace, which goes on as it was
 * recorded.
 */
public final class Replay {

    /** Decisions that are kept for a table; more are counted. */
    static final int MOST_KEPT = 10_000;

    private final boolean all;
    private final WatchdogRules rules;
    private final RecycleHistory history;
    private final Map<String, GpuWatchdog> watchdogs = new HashMap<>();
    private final Map<String, Verdict> last = new HashMap<>();
    private final Map<Verdict, Long> counts = new EnumMap<>(Verdict.class);
    private final List<Decision> kept = new ArrayList<>();
    private long leftOut;

    /** @param all whether to keep each decision, not only those with another verdict than the one before */
    public Replay(WatchdogRules rules, boolean all) {
        this.rules = rules;
        this.all = all;
        history = new RecycleHistory(rules.recycle());
    }

    /** Decides about each observation of the trace. */
    public void run(Trace.Reader trace) {
        for (Optional<GpuObservation> seen = trace.next(); seen.isPresent(); seen = trace.next()) {
            add(seen.get());
        }
    }

    private void add(GpuObservation seen) {
        Decision decision = watchdogs
                .computeIfAbsent(seen.gpu(), gpu -> new GpuWatchdog(rules.pressure(), rules.recycle(), history))
                .decide(seen);
        counts.merge(decision.verdict(), 1L, Long::sum);
        Verdict before = last.put(seen.gpu(), decision.verdict());
        if (!all && before == decision.verdict()) {
            return;
        }
        if (kept.size() < MOST_KEPT) {
            kept.add(decision);
        } else {
            leftOut++;
        }
    }

    /** Returns the number of decisions with each verdict that occurred. */
    public Map<Verdict, Long> counts() {
        return counts;
    }

    public long observations() {
        return counts.values().stream().mapToLong(Long::longValue).sum();
    }

    public int gpus() {
        return watchdogs.size();
    }

    /** Returns the decisions that were kept, in the order of the trace. */
    public List<Decision> kept() {
        return kept;
    }

    /** Returns the number of decisions that were not kept because there were too many. */
    public long leftOut() {
        return leftOut;
    }

    public long recycles() {
        return counts.getOrDefault(Verdict.RECYCLE, 0L);
    }

    /** Returns whether any observation was a basis for a decision. */
    public boolean decided() {
        return counts.keySet().stream().anyMatch(verdict -> verdict != Verdict.BLIND);
    }

    /** Returns the name of the tenant that a decision recycles; empty where it recycles none. */
    public static String recycled(Decision decision) {
        return decision.recycled().map(Tenant::name).orElse("");
    }
}
