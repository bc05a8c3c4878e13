package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The state, limits and mode of the breaker, as the present or last leader stored them.
 *
 * @param kept the stored state; unknown if nothing is stored, which differs from closed
 * @param limits the caller's own limits if given, else the published ones
 * @param mode the mode; in a dry run no node is taken out of service
 * @param steps the modes of drains and repairs
 */
public record BreakerStatus(
        Seen<BreakerState> kept, Seen<BreakerPolicy> limits, Seen<ActionMode> mode, Seen<StepModes> steps) {

    /** @param given the caller's limits; empty for those of the aggregator */
    static BreakerStatus of(Seen<Map<String, Object>> map, Optional<List<Pool>> given, Instant now) {
        Optional<BreakerPolicy> own = given.map(BreakerPolicy::new);
        Seen<BreakerSettingsAnnotation> published = map.then(tree -> {
            try {
                return Seen.of(BreakerSettingsAnnotation.of(
                        JsonTrees.texts(JsonTrees.object(tree, "metadata"), "annotations")));
            } catch (IllegalArgumentException e) {
                return Seen.unknown("the ConfigMap has no readable settings: " + e.getMessage());
            }
        });
        return new BreakerStatus(
                map.then(tree -> Seen.of(BreakerState.of(JsonTrees.texts(tree, "data"), now))),
                own.map(Seen::of)
                        .orElseGet(() -> published.then(settings -> Seen.of(new BreakerPolicy(settings.pools())))),
                published.then(settings -> Seen.of(settings.mode())),
                published.then(settings -> settings.steps()
                        .map(Seen::of)
                        .orElseGet(() -> Seen.unknown("the leader is of a version that does not publish it"))));
    }

    /** Returns the pools with limits; empty if the limits are unknown. */
    public List<Pool> limited() {
        return limits.value().map(BreakerPolicy::pools).orElse(List.of());
    }

    /** Returns the names of the pools that have a stored state or limits, sorted. */
    public Set<String> pools() {
        Set<String> pools = new TreeSet<>();
        kept.value().ifPresent(state -> pools.addAll(state.pools().keySet()));
        limited().forEach(pool -> pools.add(pool.name()));
        return pools;
    }

    /** Returns the stored state of a pool; empty without one. */
    public Optional<PoolState> state(String pool) {
        return kept.value().map(state -> state.pools().get(pool));
    }

    /** Returns the status of a pool: closed if only other pools have a stored state, unknown if no state was read. */
    public String status(String pool) {
        return kept.value().isEmpty()
                ? "unknown"
                : BreakerView.label(state(pool).map(PoolState::status).orElse(PoolState.Status.CLOSED));
    }

    /** Returns the modes in one line; empty if the mode of quarantine is unknown. */
    public Optional<String> modes() {
        return mode.value()
                .map(quarantine -> steps.value()
                        .map(modes -> modes.text(quarantine))
                        .orElse("quarantine " + quarantine.label() + " · drain and repair unknown: " + steps.why()));
    }

    boolean dryRun() {
        return mode.value().equals(Optional.of(ActionMode.DRY_RUN));
    }

    /** Returns the fact about a node's quarantine that is unknown for lack of data; empty if all is known. */
    Optional<String> unknown() {
        if (kept.value().isEmpty() || limits.value().isEmpty()) {
            return Optional.of("it is unknown if the breaker keeps it in service");
        }
        return mode.value().isEmpty() ? Optional.of("the mode (dry run or armed) is unknown") : Optional.empty();
    }

    /** The breaker as a JSON tree. */
    public static final class BreakerView {

        private BreakerView() {}

        public static Map<String, Object> tree(ClusterContext around) {
            BreakerStatus breaker = around.breaker();
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("known", breaker.kept().value().isPresent());
            tree.put("mode", breaker.mode().value().map(ActionMode::label));
            tree.put("drainMode", breaker.steps().value().map(modes -> StepModes.label(modes.drain())));
            tree.put("repairMode", breaker.steps().value().map(modes -> StepModes.label(modes.repair())));
            List<Map<String, Object>> pools = new ArrayList<>();
            for (String name : breaker.pools()) {
                Optional<PoolState> state = breaker.state(name);
                Optional<PoolCount> counted = around.census().value().map(all -> all.get(name));
                Map<String, Object> pool = new LinkedHashMap<>();
                pool.put("name", name);
                pool.put("status", breaker.status(name));
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
}
