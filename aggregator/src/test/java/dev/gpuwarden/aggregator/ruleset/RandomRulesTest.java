package dev.gpuwarden.aggregator.ruleset;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Clause;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.testkit.cel.RandomExpressions;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests random rules: a sample of the million that benchmarks/cel-fuzz runs. */
class RandomRulesTest {

    private static final int RULES = 300;

    /** The garbage of one rule and one event; a live evaluation takes a part of it. */
    private static final long MOST_BYTES = 256L << 20;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final Map<String, Object> NODE =
            Map.of("metadata", Map.of("name", "n", "labels", Map.of(), "annotations", Map.of()));

    private static final HealthEvent LARGE = HealthEvent.of("agent", "GPU", "check")
            .fatal(true)
            .message("xy".repeat(8000))
            .errorCodes(IntStream.range(0, 512).mapToObj(Integer::toString).toList())
            .entities(List.of(new Entity("GPU", "0")))
            .build();

    @Test
    void randomRulesStayWithinMemoryAndCostlyOnesAreNamed() {
        RandomExpressions expressions = new RandomExpressions(
                14,
                List.of("event.message", "event.agent", "event.nodeName"),
                List.of("event.errorCode", "event.entitiesImpacted.map(e, e.entityValue)", "['x', 'yy']"));
        int costly = 0;
        int answered = 0;
        for (int i = 0; i < RULES; i++) {
            String expression = expressions.next();
            QuarantineRuleSet set = new QuarantineRuleSet(
                    "rule",
                    1,
                    true,
                    0,
                    List.of(new Clause(Clause.Kind.HEALTH_EVENT, expression)),
                    List.of(),
                    true,
                    Optional.empty(),
                    Optional.empty());
            long before = THREADS.getCurrentThreadAllocatedBytes();
            RuleEvaluator book = RuleEvaluator.compile(List.of(set));
            RuleEvaluator.Matches matches = book.match(LARGE, NODE);
            assertThat(THREADS.getCurrentThreadAllocatedBytes() - before)
                    .as(expression)
                    .isLessThan(MOST_BYTES);
            RuleCondition condition = book.conditions().get(0);
            costly += condition.reason().equals("TooCostly") ? 1 : 0;
            answered += condition.ready() && matches.unanswered().isEmpty() ? 1 : 0;
        }
        assertThat(costly).isPositive();
        assertThat(answered).isGreaterThan(RULES / 2);
    }
}
