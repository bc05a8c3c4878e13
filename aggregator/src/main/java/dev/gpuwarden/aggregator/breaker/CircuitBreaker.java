package dev.gpuwarden.aggregator.breaker;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.cache.CachedNode;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The one breaker of all reconcilers that decide about nodes. They ask one after the other, and a node that was let through is
 * counted from then on. Thread-safe; never waits for the API server.
 */
public final class CircuitBreaker {

    private static final System.Logger LOG = System.getLogger(CircuitBreaker.class.getName());

    private final BreakerPolicy policy;
    private final PoolCounts pools;
    private final Clock clock;
    private final Runnable changed;
    private final Set<String> waiting = new TreeSet<>();
    private BreakerState state = BreakerState.NEW;

    /** @param changed called after the state changed, which must be stored then */
    public CircuitBreaker(BreakerPolicy policy, PoolCounts pools, Clock clock, Runnable changed) {
        this.policy = policy;
        this.pools = pools;
        this.clock = clock;
        this.changed = changed;
    }

    /** Returns the breaker's answer for a node, and changes nothing. */
    public synchronized BreakerPolicy.Answer evaluate(CachedNode node) {
        return ask(node, clock.instant());
    }

    /** Asks to take a node out of service, and counts it if the answer allows that. {@link #settled} must follow. */
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
        return pools.ask(node.name(), census -> policy.ask(state, node.name(), node.labels(), census, now));
    }

    /** Ends the request of a node: its Node now shows whether it is out of service, or was never written. */
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
                        "circuit breaker " + name + " tripped: " + pool.reason()
                                + "; no node is taken out of service until an operator closes it, nodes still return");
            }
        });
        state = next;
        changed.run();
    }

    public synchronized BreakerState state() {
        return state;
    }

    /** Returns the open pool of a node with its reason; empty if all of its pools are closed or half-open. */
    public synchronized Optional<String> openFor(CachedNode node) {
        return policy.pools().stream()
                .filter(pool -> pool.selector().matches(node.labels()))
                .flatMap(pool -> Optional.ofNullable(state.pools().get(pool.name()))
                        .filter(each -> each.status() == PoolState.Status.OPEN)
                        .map(each -> "breaker " + pool.name() + ": open since " + each.since() + ", " + each.reason())
                        .stream())
                .findFirst();
    }

    /** Receives the stored state, which another writer may have changed. The younger of two states of a pool holds. */
    public synchronized void kept(BreakerState other) {
        BreakerState next = state.younger(other);
        if (!next.equals(state)) {
            LOG.log(Level.INFO, "circuit breaker state changed by another writer: " + next.toData());
            state = next;
        }
    }

    /** Returns the nodes that only the breaker keeps in service. */
    public synchronized Set<String> waiting() {
        return Set.copyOf(waiting);
    }

    /** Removes a node from {@link #waiting()}: nothing requests to take it out of service any more. */
    public synchronized void content(String node) {
        waiting.remove(node);
    }

    /** Returns the counts by name of the pool. */
    public Map<String, PoolCounts.Standing> standing() {
        return pools.standing();
    }
}
