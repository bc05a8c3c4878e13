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

/**
 * The recycles of a node so far, the workloads that they do not help, and the workloads that were not recycled although it was
 * decided. Not thread-safe.
 */
public final class RecycleHistory {

    private static final int MOST_WORKLOADS = 1024;

    private static final int MOST_DOUBLINGS = 20;

    private static final Duration HOUR = Duration.ofHours(1);

    private final RecycleRules rules;
    private final Map<String, Row> byWorkload = new BoundedMap<>(MOST_WORKLOADS, false);
    private final Deque<Long> lastHour = new ArrayDeque<>();
    private final Map<String, Undone> undone = new BoundedMap<>(MOST_WORKLOADS, false);
    /** The rows that {@link #add} replaced. An end that is reported after a restart takes nothing back. */
    private final Map<String, Added> added = new BoundedMap<>(MOST_WORKLOADS, false);

    private record Added(long nanos, Optional<Row> before, Undone undone) {}

    /** @param returns recycles in a row, each soon after the one before */
    public record Row(long lastNanos, int returns) {}

    /**
     * A decision to recycle that had no effect.
     *
     * @param failures attempts in a row that failed; 0 where none was made
     * @param refusals refusals before an attempt in a row, since the last attempt
     */
    public record Undone(long atNanos, int failures, int refusals) {

        private static final Undone NONE = new Undone(0, 0, 0);

        private Undone next(NotRecycled why, long nanos) {
            return switch (why) {
                case WITHHELD -> new Undone(nanos, failures, refusals);
                case REFUSED -> new Undone(nanos, failures, refusals + 1);
                case FAILED -> new Undone(nanos, failures + 1, 0);
            };
        }
    }

    /**
     * Everything that a history remembers.
     *
     * @param byWorkload the last recycle of each workload, the oldest first
     * @param lastHourNanos times of the last recycles, the oldest first
     * @param undone the last decision without effect of each workload that was not recycled since, the oldest first
     */
    public record State(Map<String, Row> byWorkload, List<Long> lastHourNanos, Map<String, Undone> undone) {

        public static final State NONE = new State(Map.of(), List.of(), Map.of());

        public State {
            byWorkload = Collections.unmodifiableMap(new LinkedHashMap<>(byWorkload));
            lastHourNanos = List.copyOf(lastHourNanos);
            undone = Collections.unmodifiableMap(new LinkedHashMap<>(undone));
        }

        /** Returns the same history by a clock that is ahead by this much. */
        State shifted(long nanos) {
            Map<String, Row> rows = new LinkedHashMap<>();
            byWorkload.forEach((workload, row) -> rows.put(workload, new Row(row.lastNanos() + nanos, row.returns())));
            Map<String, Undone> shifted = new LinkedHashMap<>();
            undone.forEach((workload, end) ->
                    shifted.put(workload, new Undone(end.atNanos() + nanos, end.failures(), end.refusals())));
            return new State(rows, lastHourNanos.stream().map(at -> at + nanos).toList(), shifted);
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
        undone.putAll(state.undone());
    }

    public State state() {
        return new State(byWorkload, List.copyOf(lastHour), undone);
    }

    void add(String workload, long nanos) {
        Optional<Row> last = Optional.ofNullable(byWorkload.remove(workload));
        int before = last.filter(
                        row -> nanos - row.lastNanos() < rules.quickReturn().toNanos())
                .map(Row::returns)
                .orElse(0);
        Undone row = Optional.ofNullable(undone.remove(workload)).orElse(Undone.NONE);
        byWorkload.put(workload, new Row(nanos, before + 1));
        added.put(workload, new Added(nanos, last, row));
        lastHour.add(nanos);
    }

    /**
     * Takes the last recycle of a workload back, because it was not recycled. It is left alone for a time that doubles with each
     * failure and each refusal in a row, up to the cooldown.
     *
     * @param nanos present time
     */
    void takeBack(String workload, NotRecycled why, long nanos) {
        Added last = added.remove(workload);
        if (last == null) {
            return;
        }
        byWorkload.remove(workload);
        last.before().ifPresent(row -> byWorkload.put(workload, row));
        lastHour.removeFirstOccurrence(last.nanos());
        undone.put(workload, last.undone().next(why, nanos));
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
        Optional<String> pause = pause(workload, nanos);
        Row row = byWorkload.get(workload);
        if (row == null || pause.isPresent()) {
            return pause;
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

    private Optional<String> pause(String workload, long nanos) {
        Undone last = undone.get(workload);
        if (last == null) {
            return Optional.empty();
        }
        Duration ago = Duration.ofNanos(nanos - last.atNanos());
        int doublings = Math.max(0, last.failures() + last.refusals() - 1);
        Duration doubled = rules.releaseWithin().multipliedBy(1L << Math.min(doublings, MOST_DOUBLINGS));
        Duration rest = doubled.compareTo(rules.cooldown()) < 0 ? doubled : rules.cooldown();
        String why = last.refusals() > 0
                ? "its recycle was refused before an attempt, " + last.refusals() + " in a row, the last one "
                : last.failures() > 0
                        ? last.failures() + " attempts to recycle it failed, the last one "
                        : "its last recycle was withheld ";
        return ago.compareTo(rest) >= 0
                ? Optional.empty()
                : Optional.of(why + ago.toSeconds() + " s ago; the next one is after " + rest.toSeconds() + " s");
    }
}
