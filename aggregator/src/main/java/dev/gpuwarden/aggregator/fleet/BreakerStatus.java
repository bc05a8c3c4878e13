package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.breaker.PoolState;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.controller.ActionMode;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * What the aggregator that leads, or led last, keeps and says of the breaker.
 *
 * @param kept unknown where nothing is, which is not the same as closed
 * @param limits the caller's own where there are any
 * @param mode whether nodes are taken out of service at all
 */
public record BreakerStatus(Seen<BreakerState> kept, Seen<BreakerPolicy> limits, Seen<ActionMode> mode) {

    /** @param given the caller's limits; empty for those of the aggregator */
    static BreakerStatus of(Seen<Map<String, Object>> map, Optional<List<Pool>> given, Instant now) {
        Optional<BreakerPolicy> own = given.map(BreakerPolicy::new);
        Seen<BreakerSettingsAnnotation> published = map.then(tree -> {
            try {
                return Seen.of(BreakerSettingsAnnotation.of(
                        JsonTrees.texts(JsonTrees.object(tree, "metadata"), "annotations")));
            } catch (IllegalArgumentException e) {
                return Seen.unknown("the ConfigMap does not say it: " + e.getMessage());
            }
        });
        return new BreakerStatus(
                map.then(tree -> Seen.of(BreakerState.of(JsonTrees.texts(tree, "data"), now))),
                own.map(Seen::of).orElseGet(() -> published.then(says -> Seen.of(new BreakerPolicy(says.pools())))),
                published.then(says -> Seen.of(says.mode())));
    }

    /** That have limits; none where these are not known. */
    public List<Pool> limited() {
        return limits.value().map(BreakerPolicy::pools).orElse(List.of());
    }

    /** That are kept or have limits, by name. */
    public Set<String> pools() {
        Set<String> pools = new TreeSet<>();
        kept.value().ifPresent(state -> pools.addAll(state.pools().keySet()));
        limited().forEach(pool -> pools.add(pool.name()));
        return pools;
    }

    /** Empty where nothing is kept of it. */
    public Optional<PoolState> state(String pool) {
        return kept.value().map(state -> state.pools().get(pool));
    }

    /** Where something is kept, a pool of which nothing is kept is closed; else nothing is known of any. */
    public String status(String pool) {
        return kept.value().isEmpty()
                ? "unknown"
                : BreakerView.label(state(pool).map(PoolState::status).orElse(PoolState.Status.CLOSED));
    }

    boolean dryRun() {
        return mode.value().equals(Optional.of(ActionMode.DRY_RUN));
    }

    /** What cannot be said of a node that asks, because something here is not known. */
    Optional<String> unknown() {
        if (kept.value().isEmpty() || limits.value().isEmpty()) {
            return Optional.of("whether the breaker keeps it is not known");
        }
        return mode.value().isEmpty() ? Optional.of("whether it is a dry run is not known") : Optional.empty();
    }
}
