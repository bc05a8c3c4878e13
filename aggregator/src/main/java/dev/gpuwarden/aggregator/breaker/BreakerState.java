package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.JsonTrees;
import java.io.IOException;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

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
                                "its stored state cannot be read (" + e.getMessage() + "): close it to reset it", now));
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
             * A given number of nodes passes at an operator's request, whatever the limits are. The limits hold for the next
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
