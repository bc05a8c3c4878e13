package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.breaker.Census;
import dev.gpuwarden.aggregator.breaker.PoolState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** How the breaker looks. */
final class BreakerView {

    private BreakerView() {}

    /** Pools that are kept, or that have limits here; the state of one that is not kept is unknown. */
    static Set<String> pools(Seen<BreakerState> kept, Breaker limits) {
        Set<String> pools = new TreeSet<>();
        kept.value().ifPresent(state -> pools.addAll(state.pools().keySet()));
        limits.pools().forEach(pool -> pools.add(pool.name()));
        return pools;
    }

    static Map<String, Object> tree(Seen<BreakerState> kept, Breaker limits, Seen<Map<String, Census>> census) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("known", kept.value().isPresent());
        List<Map<String, Object>> pools = new ArrayList<>();
        for (String name : pools(kept, limits)) {
            Optional<PoolState> state = state(kept, name);
            Optional<Census> counted = census.value().map(all -> all.get(name));
            Map<String, Object> pool = new LinkedHashMap<>();
            pool.put("name", name);
            pool.put("status", status(kept, name));
            pool.put("reason", state.map(PoolState::reason).orElse(""));
            pool.put("since", state.map(each -> each.since().toString()));
            pool.put(
                    "letThrough",
                    state.filter(each -> each.status() == PoolState.Status.HALF_OPEN)
                            .map(PoolState::letThrough));
            pool.put("nodes", counted.map(Census::total));
            pool.put("outOfService", counted.map(each -> each.out().size()));
            pools.add(pool);
        }
        tree.put("pools", pools);
        return tree;
    }

    /** Empty where nothing is kept of it. */
    static Optional<PoolState> state(Seen<BreakerState> kept, String pool) {
        return kept.value().map(state -> state.pools().get(pool));
    }

    /** Where something is kept, a pool of which nothing is kept is closed; else nothing is known of any. */
    static String status(Seen<BreakerState> kept, String pool) {
        PoolState.Status closed = PoolState.Status.CLOSED;
        return kept.value().isEmpty()
                ? "unknown"
                : label(state(kept, pool).map(PoolState::status).orElse(closed));
    }

    static String label(PoolState.Status status) {
        return status.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
