package dev.gpuwarden.aggregator.breaker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.breaker.Pool.Limit;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BreakerPolicyTest {

    private static final Map<String, String> GPU = Map.of("nvidia.com/gpu.present", "true");
    private static final Instant T0 = Instant.parse("2026-11-22T03:00:00Z");

    private final BreakerPolicy breaker = new BreakerPolicy(List.of(Pool.GPU_NODES));
    private final Set<String> out = new HashSet<>();
    private final Map<String, Instant> letThrough = new HashMap<>();
    private BreakerState state = BreakerState.NEW;

    private BreakerPolicy.Answer ask(String node, int total, Instant at) {
        BreakerPolicy.Answer answer = breaker.ask(state, node, GPU, Map.of("gpu-nodes", census(total)), at);
        state = answer.next();
        if (answer.allowed()) {
            out.add(node);
            letThrough.put(node, at);
        }
        return answer;
    }

    private PoolCount census(int total) {
        return new PoolCount(total, out, letThrough, Map.of());
    }

    private int allowedOf(int asking, int total, Instant at) {
        int allowed = 0;
        for (int i = 0; i < asking; i++) {
            allowed += ask("node-" + at + i, total, at).allowed() ? 1 : 0;
        }
        return allowed;
    }

    @ParameterizedTest
    @CsvSource({
        "50, -, 1, 1",
        "50, -, 3, 2",
        "50, -, 100, 50",
        "50, 10, 100, 10",
        "50, 10, 4, 2",
        "-, 10, 4, 4",
        "0, -, 9, 0"
    })
    void lowerOfPercentAndNumberIsTheLimit(String percent, String nodes, int total, int allowed) {
        Limit limit = new Limit(
                percent.equals("-") ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(percent)),
                nodes.equals("-") ? OptionalInt.empty() : OptionalInt.of(Integer.parseInt(nodes)));
        assertThat(limit.allowed(total)).isEqualTo(allowed);
    }

    @Test
    void limitNeedsPercentOrNumber() {
        assertThatThrownBy(() -> new Limit(OptionalInt.empty(), OptionalInt.empty()))
                .hasMessageContaining("there is none");
        assertThatThrownBy(() -> Limit.percent(101)).hasMessageContaining("found 101");
    }

    @Test
    void poolTripsAndStaysOpenWhenTooManyNodesPassWithinTheWindow() {
        assertThat(allowedOf(80, 100, T0)).isEqualTo(50);
        out.clear();
        BreakerPolicy.Answer later = ask("another", 100, T0.plus(Duration.ofDays(1)));
        assertThat(later.allowed()).isFalse();
        assertThat(later.reason()).contains("open since " + T0, "51 of 100 nodes within 5 min, limit 50");
    }

    @Test
    void windowSlides() {
        assertThat(allowedOf(30, 100, T0)).isEqualTo(30);
        out.clear();
        assertThat(allowedOf(20, 100, T0.plusSeconds(299))).isEqualTo(20);
        out.clear();
        assertThat(allowedOf(30, 100, T0.plusSeconds(301))).isEqualTo(30);
    }

    @Test
    void levelIsEnforcedAtAnyRateAndTripsNoPool() {
        int allowed = 0;
        for (int i = 0; i < 80; i++) {
            allowed +=
                    ask("node-" + i, 100, T0.plus(Duration.ofMinutes(10L * i))).allowed() ? 1 : 0;
        }
        assertThat(allowed).isEqualTo(50);
        out.remove("node-0");
        assertThat(ask("node-99", 100, T0.plus(Duration.ofDays(1))).allowed())
                .as("there is room again without an operator")
                .isTrue();
    }

    @Test
    void nodeIsCountedOnce() {
        for (int i = 0; i < 100; i++) {
            assertThat(ask("flapping", 10, T0.plusSeconds(i)).allowed()).isTrue();
        }
    }

    @Test
    void halfOpenPoolLetsSomeNodesThroughThenTripsOrCloses() {
        allowedOf(51, 100, T0);
        state = BreakerPolicy.halfOpen(state, "gpu-nodes", 3, T0.plusSeconds(60));
        assertThat(allowedOf(10, 100, T0.plusSeconds(61)))
                .as("three on request; then more than half are out of service")
                .isEqualTo(3);
        out.clear();
        assertThat(ask("one-more", 100, T0.plusSeconds(62)).allowed()).isTrue();
        assertThat(state.pools().get("gpu-nodes").status()).isEqualTo(PoolState.Status.CLOSED);
        assertThat(ask("one-more", 100, T0.plusSeconds(62)).reason()).contains("4 of 50 within 5 min");
        assertThat(ask("the-fifth", 100, T0.plusSeconds(63)).reason())
                .as("the nodes that were let through are counted, earlier nodes are not")
                .contains("5 of 50 within 5 min");
        state = BreakerPolicy.halfOpen(state, "gpu-nodes", 60, T0.plusSeconds(70));
        assertThat(allowedOf(80, 100, T0.plusSeconds(71))).isEqualTo(60);
        assertThat(state.pools().get("gpu-nodes").status()).isEqualTo(PoolState.Status.OPEN);
    }

    @Test
    void closingDoesNotCountEarlierNodes() {
        allowedOf(80, 100, T0);
        out.clear();
        state = BreakerPolicy.close(state, "gpu-nodes", T0.plusSeconds(10));
        assertThat(allowedOf(10, 100, T0.plusSeconds(11))).isEqualTo(10);
    }

    @Test
    void restartLosesNoState() {
        allowedOf(40, 100, T0);
        state = BreakerState.of(state.toData(), T0.plusSeconds(1));
        assertThat(allowedOf(20, 100, T0.plusSeconds(2))).isEqualTo(10);
        assertThat(BreakerState.of(state.toData(), T0)).isEqualTo(state);
        state = BreakerState.of(state.toData(), T0);
        assertThat(ask("after", 100, T0.plus(Duration.ofDays(1))).reason()).contains("open since");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "{}", "{\"status\":\"ajar\",\"since\":\"2026-11-22T03:00:00Z\"}", "[]"})
    void poolIsOpenWhenItsStateCannotBeRead(String text) {
        state = BreakerState.of(Map.of("gpu-nodes", text), T0);
        BreakerPolicy.Answer answer = ask("node", 100, T0);
        assertThat(answer.allowed()).isFalse();
        assertThat(answer.reason()).contains("cannot be read");
    }

    @Test
    void poolWithoutCountsLetsNoNodeThroughAndDoesNotTrip() {
        assertThat(ask("node", 0, T0).reason()).contains("the number of nodes is not known");
        BreakerPolicy.Answer unknown = breaker.ask(state, "node", GPU, Map.of(), T0);
        assertThat(unknown.allowed()).isFalse();
        assertThat(breaker.ask(state, "cpu-node", Map.of(), Map.of("gpu-nodes", census(9)), T0)
                        .reason())
                .contains("no pool of the breaker selects node cpu-node");
        assertThat(ask("node", 100, T0).allowed()).isTrue();
        assertThat(ask("node", 0, T0).allowed())
                .as("counted already, but the number of nodes is not known")
                .isFalse();
        state = BreakerPolicy.halfOpen(state, "gpu-nodes", 3, T0);
        assertThat(ask("another", 0, T0).allowed()).isFalse();
    }

    @Test
    void poolsAreCountedSeparatelyAndRefusalChangesNoCount() {
        Pool a = new Pool(
                "a", NodeSelector.parse("rack=a"), Limit.percent(50), Duration.ofMinutes(5), Limit.percent(50));
        Pool all = new Pool("all", NodeSelector.parse(""), Limit.percent(50), Duration.ofMinutes(5), Limit.percent(50));
        BreakerPolicy two = new BreakerPolicy(List.of(all, a));
        Map<String, PoolCount> census = Map.of(
                "a",
                new PoolCount(2, Set.of("a1"), Map.of("a1", T0), Map.of()),
                "all",
                new PoolCount(20, Set.of("a1"), Map.of("a1", T0), Map.of()));
        BreakerPolicy.Answer refused = two.ask(BreakerState.NEW, "a2", Map.of("rack", "a"), census, T0);
        assertThat(refused.allowed()).isFalse();
        assertThat(refused.reason()).contains("breaker a: trips");
        assertThat(refused.next().pools()).containsOnlyKeys("a");
        assertThat(two.ask(refused.next(), "b1", Map.of("rack", "b"), census, T0)
                        .allowed())
                .isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "'', true",
        "a=1, true",
        "a==1, true",
        "a=2, false",
        "a!=2, true",
        "a!=1, false",
        "a, true",
        "!a, false",
        "!z, true",
        "'a=1, b=2', true",
        "'a=1,b=3', false",
        "z!=1, true"
    })
    void selectorMatchesLabels(String selector, boolean matches) {
        assertThat(NodeSelector.parse(selector).matches(Map.of("a", "1", "b", "2")))
                .isEqualTo(matches);
    }

    /** Compares the counts with plain sets of names. */
    @Test
    void passingNodesCountOnceWithTheirOwnTime() {
        Random random = new Random(11);
        for (int round = 0; round < 500; round++) {
            Map<String, Instant> passing = new HashMap<>();
            out.clear();
            letThrough.clear();
            for (int i = 0; i < random.nextInt(12); i++) {
                out.add("n" + random.nextInt(9));
                letThrough.put("n" + random.nextInt(9), T0.plusSeconds(random.nextInt(9)));
                passing.put("n" + random.nextInt(9), T0.plusSeconds(random.nextInt(9)));
            }
            PoolCount census = new PoolCount(9, out, letThrough, passing);
            Map<String, Instant> times = new HashMap<>(letThrough);
            times.putAll(passing);
            Set<String> all = new HashSet<>(out);
            all.addAll(passing.keySet());
            Instant from = T0.plusSeconds(random.nextInt(9));
            assertThat(census.outOfService()).isEqualTo(all.size());
            assertThat(census.passed(from)).isEqualTo((int)
                    times.values().stream().filter(at -> !at.isBefore(from)).count());
            times.forEach((node, at) -> assertThat(census.passed(node, from)).isEqualTo(!at.isBefore(from)));
            assertThat(census.passed("unknown", from)).isFalse();
        }
    }

    @Test
    void limitsHoldForAnyOrderOfRequests() {
        Random random = new Random(7);
        for (int round = 0; round < 200; round++) {
            state = BreakerState.NEW;
            out.clear();
            letThrough.clear();
            int total = 1 + random.nextInt(60);
            int most = Pool.GPU_NODES.rate().allowed(total);
            Instant now = T0;
            for (int i = 0; i < 100; i++) {
                now = now.plusSeconds(random.nextInt(200) - 20);
                if (random.nextInt(4) == 0 && !out.isEmpty()) {
                    out.remove(out.iterator().next());
                }
                if (random.nextInt(5) == 0) {
                    state = BreakerState.of(state.toData(), now);
                }
                ask("n" + random.nextInt(total), total, now);
                assertThat(out.size()).isLessThanOrEqualTo(most);
            }
        }
    }
}
