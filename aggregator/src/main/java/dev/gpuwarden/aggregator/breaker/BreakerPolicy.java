package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The decision whether one more node may be taken out of service. Immutable: the caller keeps the state. The Nodes record which
 * of them were let through, and when. A caller asks for several nodes one after the other, each time with counts that include
 * the nodes before.
 *
 * <p>A pool trips if too many nodes are let through within its window. It then stays open until an operator closes it. While
 * too many nodes are out of service at the same time, the policy refuses, and does not trip. A node's return to service does
 * not depend on the breaker.
 */
public final class BreakerPolicy {

    private final List<Pool> pools;

    public BreakerPolicy(List<Pool> pools) {
        this.pools = List.copyOf(pools);
    }

    /**
     * @param reason the reason of the refusal, or the room that was left
     * @param next the new state, which the caller must keep; the old one if nothing changed
     */
    public record Answer(boolean allowed, String reason, BreakerState next) {}

    /**
     * @param labels the node's labels; every pool that selects the node must let it pass
     * @param census the counts by name of the pool; a pool without counts or without nodes lets no node through
     */
    public Answer ask(
            BreakerState state, String node, Map<String, String> labels, Map<String, PoolCount> census, Instant now) {
        List<Pool> of =
                pools.stream().filter(pool -> pool.selector().matches(labels)).toList();
        if (of.isEmpty()) {
            return new Answer(false, "no pool of the breaker selects node " + node + ": it has no limits", state);
        }
        BreakerState passed = state;
        StringBuilder room = new StringBuilder();
        for (Pool pool : of) {
            PoolState before = state.pools().getOrDefault(pool.name(), PoolState.NEW);
            Step step = ask(pool, before, node, census.get(pool.name()), now);
            if (!step.next.equals(before)) {
                passed = passed.with(pool.name(), step.next);
            }
            if (!step.allowed) {
                return new Answer(false, step.reason, passed);
            }
            room.append(room.isEmpty() ? "" : "; ").append(step.reason);
        }
        return new Answer(true, room.toString(), passed);
    }

    public List<Pool> pools() {
        return pools;
    }

    private record Step(boolean allowed, String reason, PoolState next) {}

    private static Step ask(
            Pool pool, PoolState state, String node, @org.jspecify.annotations.Nullable PoolCount census, Instant now) {
        String name = "breaker " + pool.name() + ": ";
        if (state.status() == PoolState.Status.OPEN) {
            return new Step(false, name + "open since " + state.since() + ", " + state.reason(), state);
        }
        if (census == null || census.total() < 1) {
            return new Step(false, name + "the number of nodes is not known", state);
        }
        if (state.status() == PoolState.Status.HALF_OPEN) {
            int left = state.letThrough() - census.passed(state.since());
            if (left > 0 || census.passed(node, state.since())) {
                return new Step(true, name + "half open, " + Math.max(0, left - 1) + " more pass", state);
            }
        }
        // The nodes that passed in the state half-open are counted.
        PoolState closed = state.status() == PoolState.Status.CLOSED ? state : PoolState.closed(state.since());
        Instant from = later(state.since(), now.minus(pool.window()).plusMillis(1));
        int recent = census.passed(from) + (census.passed(node, from) ? 0 : 1);
        int fast = pool.rate().allowed(census.total());
        String window = " within " + pool.window().toMinutes() + " min";
        if (recent > fast) {
            String why = recent + " of " + census.total() + " nodes" + window + ", limit " + fast;
            return new Step(false, name + "trips: " + why, PoolState.open(why, milli(now)));
        }
        int most = pool.level().allowed(census.total());
        int out = census.outOfService();
        if (!census.isOut(node) && out + 1 > most) {
            return new Step(
                    false, name + out + " of " + census.total() + " nodes are out of service, limit " + most, closed);
        }
        String room = recent + " of " + fast + window + ", " + out + " of " + most + " out of service before";
        return new Step(true, name + room, closed);
    }

    private static Instant later(Instant a, Instant b) {
        return a.isAfter(b) ? a : b;
    }

    /** Truncates a time to milliseconds, the precision of the times on Nodes. */
    private static Instant milli(Instant time) {
        return time.truncatedTo(ChronoUnit.MILLIS);
    }

    /**
     * Lets a number of nodes pass, beyond all limits. Then the limits hold again, with those nodes counted.
     *
     * @param nodes the number of nodes, at least 1
     */
    public static BreakerState halfOpen(BreakerState state, String pool, int nodes, Instant now) {
        if (nodes < 1) {
            throw new IllegalArgumentException("expected at least one node to let through, found " + nodes);
        }
        return state.with(pool, new PoolState(PoolState.Status.HALF_OPEN, "", milli(now), nodes));
    }

    /** Closes the breaker of a pool: the limits hold again from now on, and no earlier node is counted. */
    public static BreakerState close(BreakerState state, String pool, Instant now) {
        return state.with(pool, PoolState.closed(milli(now)));
    }

    /** The state of the breaker that a restart must not lose, by name of the pool. A pool without an entry is closed. */
    public record BreakerState(SortedMap<String, PoolState> pools) {

        public static final BreakerState NEW = new BreakerState(new TreeMap<>());

        public BreakerState {
            pools = Collections.unmodifiableSortedMap(new TreeMap<>(pools));
        }

        BreakerState with(String pool, PoolState state) {
            TreeMap<String, PoolState> changed = new TreeMap<>(pools);
            changed.put(pool, state);
            return new BreakerState(changed);
        }

        /** Returns the younger of the two states of each pool; this one's if both are equally old. */
        public BreakerState younger(BreakerState other) {
            TreeMap<String, PoolState> younger = new TreeMap<>(pools);
            other.pools.forEach((name, pool) ->
                    younger.merge(name, pool, (mine, theirs) -> theirs.since().isAfter(mine.since()) ? theirs : mine));
            return new BreakerState(younger);
        }

        /** Returns one JSON text for each pool: the data of a ConfigMap. */
        public Map<String, String> toData() {
            Map<String, String> data = new LinkedHashMap<>();
            pools.forEach((name, pool) -> {
                Map<String, Object> tree = new LinkedHashMap<>();
                tree.put("status", pool.status().name().toLowerCase(Locale.ROOT));
                tree.put("reason", pool.reason());
                tree.put("since", pool.since().toString());
                tree.put("letThrough", (long) pool.letThrough());
                data.put(name, Json.write(tree));
            });
            return data;
        }

        /** Reads the data of a ConfigMap. A pool whose text cannot be read is open: an unknown state lets no node through. */
        public static BreakerState of(Map<String, String> data, Instant now) {
            TreeMap<String, PoolState> pools = new TreeMap<>();
            data.forEach((name, text) -> {
                try {
                    pools.put(name, pool(Json.readObject(text)));
                } catch (IOException | RuntimeException e) {
                    pools.put(
                            name,
                            PoolState.open(
                                    "its stored state cannot be read (" + e.getMessage() + "): close it to reset it",
                                    now));
                }
            });
            return new BreakerState(pools);
        }

        private static PoolState pool(Map<String, Object> tree) {
            return new PoolState(
                    PoolState.Status.valueOf(JsonTrees.text(tree, "status").toUpperCase(Locale.ROOT)),
                    JsonTrees.text(tree, "reason"),
                    Instant.parse(JsonTrees.text(tree, "since")),
                    JsonTrees.number(tree, "letThrough"));
        }

        /**
         * @param reason the reason of an open state; empty in the other states
         * @param since the time at which the status began; nodes that were let through before are not counted
         * @param letThrough the number of nodes that pass from then on in the state half-open
         */
        public record PoolState(Status status, String reason, Instant since, int letThrough) {

            public enum Status {
                CLOSED,
                /** No node passes until an operator requests {@link BreakerPolicy#halfOpen} or {@link BreakerPolicy#close}. */
                OPEN,
                /**
                 * A given number of nodes passes at an operator's request, beyond all limits. The limits hold for the next
                 * node.
                 */
                HALF_OPEN
            }

            /** The state of a pool without an entry. */
            static final PoolState NEW = closed(Instant.EPOCH);

            static PoolState closed(Instant since) {
                return new PoolState(Status.CLOSED, "", since, 0);
            }

            static PoolState open(String reason, Instant since) {
                return new PoolState(Status.OPEN, reason, since, 0);
            }
        }
    }
}
