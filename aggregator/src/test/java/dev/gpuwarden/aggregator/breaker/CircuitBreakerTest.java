package dev.gpuwarden.aggregator.breaker;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.Pool.Limit;
import dev.gpuwarden.aggregator.cache.CachedNode;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CircuitBreakerTest {

    private final BreakerPolicy policy = new BreakerPolicy(List.of(
            new Pool("all", NodeSelector.parse("gpu"), Limit.percent(100), Duration.ofMinutes(5), Limit.percent(100))));
    private final PoolCounts pools = new PoolCounts(policy);
    private final CircuitBreaker breaker = new CircuitBreaker(policy, pools, Clock.systemUTC(), () -> {});

    private static CachedNode node(String name) {
        return CachedNode.of(Map.of("metadata", Map.of("name", name, "labels", Map.of("gpu", ""))));
    }

    /** A reconciler may read a new Node from the cache before the pools have counted it. */
    @Test
    void nodeThatIsNotCountedYetWaitsAndTripsNothing() {
        pools.node("first", Optional.of(node("first")));
        assertThat(breaker.ask(node("first")).allowed()).isTrue();

        assertThat(breaker.ask(node("second")).reason()).contains("the number of nodes is not known");
        assertThat(breaker.waiting()).containsExactly("second");
        assertThat(breaker.openFor(node("second"))).isEmpty();

        pools.node("second", Optional.of(node("second")));
        assertThat(breaker.ask(node("second")).allowed()).isTrue();
    }
}
