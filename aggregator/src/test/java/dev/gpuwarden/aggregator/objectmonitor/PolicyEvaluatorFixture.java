package dev.gpuwarden.aggregator.objectmonitor;

import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.compiled;
import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.pod;
import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.policy;

import dev.gpuwarden.aggregator.objectmonitor.MatchIndex.Match;
import dev.gpuwarden.testkit.TestClock;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;

/** An evaluator with its matches, a clock and a timer. */
abstract class PolicyEvaluatorFixture {

    static final String BROKEN = "resource.status.phase == 'Failed'";
    static final String COSTLY = "resource.metadata.name.replace('', 'x'.replace('x', '" + "y".repeat(2000)
            + "')).replace('y', '" + "z".repeat(1500) + "') == ''";
    static final String LOOPS = "[{name: a, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}]";
    static final String RUNS = "[{name: a, ready: false, state: {running: {}}}]";
    static final String READY = "[{name: a, ready: true, state: {running: {}}}]";

    final Set<String> changed = new HashSet<>();
    final MatchIndex book = new MatchIndex(changed::add);
    final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
    final TestClock clock = new TestClock();
    final AtomicInteger completions = new AtomicInteger();

    {
        clock.set(Instant.parse("2026-11-22T12:00:00Z"));
    }

    @AfterEach
    final void stop() {
        timers.shutdownNow();
    }

    final PolicyEvaluator watch(PolicyStats... runs) {
        return new PolicyEvaluator(
                runs[0].source().resource(),
                List.of(runs),
                book,
                timers,
                clock,
                new MonitorMetrics(),
                completions::incrementAndGet);
    }

    static PolicyStats run(String name, String predicate) {
        return new PolicyStats(compiled(policy(name, predicate)));
    }

    final List<String> reported(String node) {
        return book.ofNode(node).keySet().stream().map(Match.Key::toString).toList();
    }

    static Map<String, Object> named(String name, String node, String phase, String containers) {
        return pod("gpu-operator", name, node, phase, containers);
    }

    static PolicyStats disks(String spec) {
        return new PolicyStats(compiled(TestPolicies.with(
                TestPolicies.resource("p", "Disk", "resource.status.health == 'bad'", "resource.spec.node"), spec)));
    }

    static Map<String, Object> disk(String health) {
        return TestPolicies.yaml("{spec: {node: n1}, status: {health: " + health + "}}");
    }
}
