package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.breaker.BreakerState.PoolState;
import dev.gpuwarden.aggregator.cache.CachedNode;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * The breaker as all who decide about nodes share it: one asks after the other, and who was let through is counted from then on.
 * Thread-safe; never waits for the API server.
 */
public final class CircuitBreaker {

    private static final System.Logger LOG = System.getLogger(CircuitBreaker.class.getName());

    private final BreakerPolicy breaker;
    private final PoolCounts pools;
    private final Clock clock;
    private final Runnable changed;
    private final Set<String> waiting = new TreeSet<>();
    private BreakerState state = BreakerState.NEW;

    /** @param changed told when the state is another one, and must be kept */
    public CircuitBreaker(BreakerPolicy breaker, PoolCounts pools, Clock clock, Runnable changed) {
        this.breaker = breaker;
        this.pools = pools;
        this.clock = clock;
        this.changed = changed;
    }

    /** What the breaker says; changes nothing. */
    public synchronized BreakerPolicy.Answer look(CachedNode node) {
        return ask(node, clock.instant());
    }

    /** The same of a node that is going to be taken out of service if it may. {@link #settled} must follow. */
    public synchronized BreakerPolicy.Answer ask(CachedNode node) {
        Instant now = clock.instant().truncatedTo(ChronoUnit.MILLIS);
        BreakerPolicy.Answer answer = ask(node, now);
        if (answer.allowed()) {
            waiting.remove(node.name());
            pools.passing(node, now);
        } else {
            waiting.add(node.name());
        }
        become(answer.next());
        return answer;
    }

    private BreakerPolicy.Answer ask(CachedNode node, Instant now) {
        return pools.ask(census -> breaker.ask(state, node.name(), node.labels(), census, now));
    }

    /** The Node says by now whether it is out of service, or was never written. */
    public void settled(String node) {
        pools.settled(node);
    }

    private void become(BreakerState next) {
        if (next.equals(state)) {
            return;
        }
        next.pools().forEach((name, pool) -> {
            if (pool.status() == PoolState.Status.OPEN
                    && !pool.equals(state.pools().get(name))) {
                LOG.log(
                        Level.WARNING,
                        "the breaker " + name + " trips: " + pool.reason()
                                + "; nodes return, none is taken out of service until somebody closes it");
            }
        });
        state = next;
        changed.run();
    }

    public synchronized BreakerState state() {
        return state;
    }

    /** What is kept, which somebody else may have changed. Of two states of a pool the younger one holds. */
    public synchronized void kept(BreakerState other) {
        BreakerState next = state.younger(other);
        if (!next.equals(state)) {
            LOG.log(Level.INFO, "the breaker is as somebody wants it: " + next.toData());
            state = next;
        }
    }

    /** Nodes that would be out of service but for the breaker. */
    public synchronized Set<String> waiting() {
        return Set.copyOf(waiting);
    }

    /** Nothing wants to take it out of service any more. */
    public synchronized void content(String node) {
        waiting.remove(node);
    }

    /** By name of the pool. */
    public Map<String, PoolCounts.Standing> standing() {
        return pools.standing();
    }
}
