package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.breaker.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.breaker.PoolState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** How the breaker looks. */
public final class BreakerView {

    private BreakerView() {}

    public static Map<String, Object> tree(ClusterContext around) {
        BreakerStatus look = around.breaker();
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("known", look.kept().value().isPresent());
        tree.put("mode", look.mode().value().map(BreakerSettingsAnnotation::label));
        List<Map<String, Object>> pools = new ArrayList<>();
        for (String name : look.pools()) {
            Optional<PoolState> state = look.state(name);
            Optional<PoolCount> counted = around.census().value().map(all -> all.get(name));
            Map<String, Object> pool = new LinkedHashMap<>();
            pool.put("name", name);
            pool.put("status", look.status(name));
            pool.put("reason", state.map(PoolState::reason).orElse(""));
            pool.put("since", state.map(each -> each.since().toString()));
            pool.put(
                    "letThrough",
                    state.filter(each -> each.status() == PoolState.Status.HALF_OPEN)
                            .map(PoolState::letThrough));
            pool.put("nodes", counted.map(PoolCount::total));
            pool.put("outOfService", counted.map(PoolCount::outOfService));
            pools.add(pool);
        }
        tree.put("pools", pools);
        return tree;
    }

    public static String label(PoolState.Status status) {
        return status.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
