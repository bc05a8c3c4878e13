package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.util.BoundedMap;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The recycles of a node so far, and the workloads that they do not help. Not thread-safe. */
public final class RecycleHistory {

    private static final int MOST_WORKLOADS = 1024;

    private static final int MOST_DOUBLINGS = 20;

    private static final Duration HOUR = Duration.ofHours(1);

    private final RecycleRules rules;
    private final Map<String, Row> byWorkload = new BoundedMap<>(MOST_WORKLOADS, false);
    private final Deque<Long> lastHour = new ArrayDeque<>();

    /** @param returns recycles in a row, each soon after the one before */
    public record Row(long lastNanos, int returns) {}

    /**
     * Everything that a history remembers.
     *
     * @param byWorkload the last recycle of each workload, the oldest first
     * @param lastHourNanos times of the last recycles, the oldest first
     */
    public record State(Map<String, Row> byWorkload, List<Long> lastHourNanos) {

        public static final State NONE = new State(Map.of(), List.of());

        public State {
            byWorkload = Collections.unmodifiableMap(new LinkedHashMap<>(byWorkload));
            lastHourNanos = List.copyOf(lastHourNanos);
        }

        /** Returns the same history by a clock that is ahead by this much. */
        State shifted(long nanos) {
            Map<String, Row> rows = new LinkedHashMap<>();
            byWorkload.forEach((workload, row) -> rows.put(workload, new Row(row.lastNanos() + nanos, row.returns())));
            return new State(rows, lastHourNanos.stream().map(at -> at + nanos).toList());
        }
    }

    public RecycleHistory(RecycleRules rules) {
        this(rules, State.NONE);
    }

    /** @param state that of an earlier history, which this one continues */
    public RecycleHistory(RecycleRules rules, State state) {
        this.rules = rules;
        byWorkload.putAll(state.byWorkload());
        lastHour.addAll(state.lastHourNanos());
    }

    public State state() {
        return new State(byWorkload, List.copyOf(lastHour));
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
        Duration rest = rules.cooldown().multipliedBy(1L << Math.min(row.returns() - 1, MOST_DOUBLINGS));
        return ago.compareTo(rest) >= 0
                ? Optional.empty()
                : Optional.of("it was recycled " + ago.toMinutes() + " min ago, and is left alone for "
                        + rest.toMinutes() + " min");
    }
}
