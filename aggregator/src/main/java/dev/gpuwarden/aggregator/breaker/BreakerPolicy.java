package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.breaker.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;

/**
 * Says whether one more node may be taken out of service. Immutable; the state is the caller's to keep. Which nodes were let
 * through, and when, lies on the nodes; who asks for many asks for one after the other, each with a census that has those before.
 *
 * <p>Too many within a window trip a pool, which then stays open until a person has looked. Too many at one time refuse as long
 * as it is so. What brings nodes back does not ask at all.
 */
public final class BreakerPolicy {

    private final List<Pool> pools;

    public BreakerPolicy(List<Pool> pools) {
        this.pools = List.copyOf(pools);
    }

    /**
     * @param reason why not, or how much room there was
     * @param next the state to be kept from now on, where it is another one
     */
    public record Answer(boolean allowed, String reason, BreakerState next) {}

    /**
     * @param labels of the node; every pool that selects it must let it pass
     * @param census by name of the pool; one that is missing or has no nodes is not known, and lets nobody through
     */
    public Answer ask(
            BreakerState state, String node, Map<String, String> labels, Map<String, PoolCount> census, Instant now) {
        List<Pool> of =
                pools.stream().filter(pool -> pool.selector().matches(labels)).toList();
        if (of.isEmpty()) {
            return new Answer(
                    false, "no pool of the breaker selects node " + node + ": nothing to measure it by", state);
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
            return new Step(false, name + "it is not known how many nodes there are", state);
        }
        if (state.status() == PoolState.Status.HALF_OPEN) {
            int left = state.letThrough() - census.passed(state.since());
            if (left > 0 || census.passed(node, state.since())) {
                return new Step(true, name + "half open, " + Math.max(0, left - 1) + " more pass", state);
            }
        }
        // Those that passed while it was half open are counted.
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

    /** As exact as the times of nodes are kept. */
    private static Instant milli(Instant time) {
        return time.truncatedTo(ChronoUnit.MILLIS);
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
        return state.with(pool, new PoolState(PoolState.Status.HALF_OPEN, "", milli(now), nodes));
    }

    /** The limits hold again from now on; nothing of before is counted. */
    public static BreakerState close(BreakerState state, String pool, Instant now) {
        return state.with(pool, PoolState.closed(milli(now)));
    }
}
