package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.util.BoundedMap;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;

/** The recycles of a node so far, and the workloads that they do not help. Not thread-safe. */
public final class RecycleHistory {

    private static final int MOST_WORKLOADS = 1024;

    private static final Duration HOUR = Duration.ofHours(1);

    private final RecycleRules rules;
    private final Map<String, Row> byWorkload = new BoundedMap<>(MOST_WORKLOADS, false);
    private final Deque<Long> lastHour = new ArrayDeque<>();

    /** @param returns recycles in a row, each soon after the one before */
    private record Row(long lastNanos, int returns) {}

    public RecycleHistory(RecycleRules rules) {
        this.rules = rules;
    }

    void add(String workload, long nanos) {
        int before = Optional.ofNullable(byWorkload.remove(workload))
                .filter(row -> nanos - row.lastNanos() < rules.quickReturn().toNanos())
                .map(Row::returns)
                .orElse(0);
        byWorkload.put(workload, new Row(nanos, before + 1));
        lastHour.add(nanos);
    }

    /** Returns why the node recycles no workload for now; empty if it may. */
    Optional<String> refusal(long nanos) {
        while (!lastHour.isEmpty() && nanos - lastHour.peek() >= HOUR.toNanos()) {
            lastHour.remove();
        }
        return lastHour.size() < rules.mostPerHour()
                ? Optional.empty()
                : Optional.of("the node had " + lastHour.size() + " recycles in the last hour, at most "
                        + rules.mostPerHour() + " are permitted");
    }

    /** Returns why this workload is left alone for now; empty if it is not. */
    Optional<String> refusal(String workload, long nanos) {
        Row row = byWorkload.get(workload);
        if (row == null) {
            return Optional.empty();
        }
        Duration ago = Duration.ofNanos(nanos - row.lastNanos());
        if (row.returns() >= rules.mostQuickReturns() && ago.compareTo(rules.wrongFor()) < 0) {
            return Optional.of("its budget is wrong: " + row.returns() + " recycles did not help, the last one "
                    + ago.toMinutes() + " min ago");
        }
        Duration rest = rules.cooldown().multipliedBy(1L << (row.returns() - 1));
        return ago.compareTo(rest) >= 0
                ? Optional.empty()
                : Optional.of("it was recycled " + ago.toMinutes() + " min ago, and is left alone for "
                        + rest.toMinutes() + " min");
    }
}
