package dev.gpuwarden.aggregator.breaker;

import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Says whether one more node may be taken out of service. Immutable; the state is the caller's to keep, and who asks for many
 * nodes asks for one after the other, each with the state that the answer before gave.
 *
 * <p>Too many within a window trip a pool, which then stays open until a person has looked. Too many at one time refuse as long
 * as it is so. What brings nodes back does not ask at all.
 */
public final class Breaker {

    private final List<Pool> pools;

    public Breaker(List<Pool> pools) {
        this.pools = List.copyOf(pools);
    }

    /**
     * @param reason why not, or how much room there was
     * @param next the state to be kept, before the node is touched, if the node is really going to be taken out or was refused
     */
    public record Answer(boolean allowed, String reason, BreakerState next) {}

    /**
     * @param labels of the node; every pool that selects it must let it pass
     * @param census by name of the pool; one that is missing or has no nodes is not known, and lets nobody through
     */
    public Answer ask(
            BreakerState state, String node, Map<String, String> labels, Map<String, Census> census, Instant now) {
        List<Pool> of =
                pools.stream().filter(pool -> pool.selector().matches(labels)).toList();
        if (of.isEmpty()) {
            return new Answer(
                    false, "no pool of the breaker selects node " + node + ": nothing to measure it by", state);
        }
        BreakerState charged = state;
        StringBuilder room = new StringBuilder();
        for (Pool pool : of) {
            PoolState before = state.pools().getOrDefault(pool.name(), PoolState.closed(now));
            Step step = ask(pool, before.within(pool.window(), now), node, census.get(pool.name()), now);
            if (!step.allowed) {
                // Nobody is charged in one pool for being refused in another.
                return new Answer(false, step.reason, state.with(pool.name(), step.next));
            }
            charged = charged.with(pool.name(), step.next);
            room.append(room.isEmpty() ? "" : "; ").append(step.reason);
        }
        return new Answer(true, room.toString(), charged);
    }

    private record Step(boolean allowed, String reason, PoolState next) {}

    private static Step ask(
            Pool pool, PoolState state, String node, @org.jspecify.annotations.Nullable Census census, Instant now) {
        String name = "breaker " + pool.name() + ": ";
        if (state.status() == PoolState.Status.OPEN) {
            return new Step(false, name + "open since " + state.since() + ", " + state.reason(), state);
        }
        if (census == null || census.total() < 1) {
            return new Step(false, name + "it is not known how many nodes there are", state);
        }
        if (state.recent().containsKey(node)) {
            return new Step(true, name + "already counted", state);
        }
        if (state.status() == PoolState.Status.HALF_OPEN && state.letThrough() > 0) {
            PoolState next = state.with(node, now);
            return new Step(true, name + "half open, " + next.letThrough() + " more pass", next);
        }
        PoolState closed = state.status() == PoolState.Status.CLOSED
                ? state
                : new PoolState(PoolState.Status.CLOSED, "", now, state.recent(), 0);
        Optional<String> tooFast = tooFast(pool, closed, census);
        if (tooFast.isPresent()) {
            return new Step(false, name + "trips: " + tooFast.get(), PoolState.open(tooFast.get(), now));
        }
        Set<String> out = new HashSet<>(census.out());
        // The census may be of a moment ago, and know nothing yet of those that were let through since.
        out.addAll(closed.recent().keySet());
        int most = pool.level().allowed(census.total());
        if (!out.contains(node) && out.size() + 1 > most) {
            return new Step(
                    false,
                    name + out.size() + " of " + census.total() + " nodes are out of service, limit " + most,
                    closed);
        }
        PoolState next = closed.with(node, now);
        return new Step(
                true,
                name + next.recent().size() + " of "
                        + pool.rate().allowed(census.total()) + " within "
                        + pool.window().toMinutes() + " min, "
                        + out.size() + " of " + most + " out of service before",
                next);
    }

    private static Optional<String> tooFast(Pool pool, PoolState state, Census census) {
        int most = pool.rate().allowed(census.total());
        int with = state.recent().size() + 1;
        return with > most
                ? Optional.of(with + " of " + census.total() + " nodes within "
                        + pool.window().toMinutes() + " min, limit " + most)
                : Optional.empty();
    }

    /**
     * Lets some nodes pass, whatever the limits say; then the limits hold again, with those nodes counted.
     *
     * @param nodes how many, at least 1
     */
    public static BreakerState halfOpen(BreakerState state, String pool, int nodes, Instant now) {
        if (nodes < 1) {
            throw new IllegalArgumentException("expected at least one node to let through, found " + nodes);
        }
        PoolState half = PoolState.closed(now);
        return state.with(pool, new PoolState(PoolState.Status.HALF_OPEN, "", now, half.recent(), nodes));
    }

    /** The limits hold again from now on; nothing of before is counted. */
    public static BreakerState close(BreakerState state, String pool, Instant now) {
        return state.with(pool, PoolState.closed(now));
    }
}
