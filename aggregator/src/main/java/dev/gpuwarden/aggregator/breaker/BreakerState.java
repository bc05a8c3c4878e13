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

/** What the breaker has to remember over a restart, by name of the pool. A pool that is not there is closed. */
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

    /** Of each pool the state of the two that is younger; of equally old ones this one's. */
    public BreakerState younger(BreakerState other) {
        TreeMap<String, PoolState> younger = new TreeMap<>(pools);
        other.pools.forEach((name, pool) ->
                younger.merge(name, pool, (mine, theirs) -> theirs.since().isAfter(mine.since()) ? theirs : mine));
        return new BreakerState(younger);
    }

    /** One JSON text for each pool: the data of a ConfigMap. */
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

    /** A pool whose text cannot be read is open: what is not known lets nobody through. */
    public static BreakerState of(Map<String, String> data, Instant now) {
        TreeMap<String, PoolState> pools = new TreeMap<>();
        data.forEach((name, text) -> {
            try {
                pools.put(name, pool(Json.readObject(text)));
            } catch (IOException | RuntimeException e) {
                pools.put(
                        name,
                        PoolState.open(
                                "its kept state cannot be read (" + e.getMessage() + "): close it to start anew", now));
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
     * @param reason why it is open; empty when it is not
     * @param since when its status became what it is; nodes that were let through before are not counted any more
     * @param letThrough how many nodes pass while it is half open, from then on
     */
    public record PoolState(Status status, String reason, Instant since, int letThrough) {

        public enum Status {
            CLOSED,
            /** Nobody passes until somebody asks for {@link BreakerPolicy#halfOpen} or {@link BreakerPolicy#close}. */
            OPEN,
            /** Some pass, whatever the limits say, because somebody asked for it; the next one meets the limits again. */
            HALF_OPEN
        }

        /** Of a pool of which nothing is kept. */
        static final PoolState NEW = closed(Instant.EPOCH);

        static PoolState closed(Instant since) {
            return new PoolState(Status.CLOSED, "", since, 0);
        }

        static PoolState open(String reason, Instant since) {
            return new PoolState(Status.OPEN, reason, since, 0);
        }
    }
}
