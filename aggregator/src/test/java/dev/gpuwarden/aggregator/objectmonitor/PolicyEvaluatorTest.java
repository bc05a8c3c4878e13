package dev.gpuwarden.aggregator.objectmonitor;

import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.compiled;
import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.pod;
import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.policy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.objectmonitor.MatchIndex.Match;
import dev.gpuwarden.aggregator.objectmonitor.NodeFaults.ObjectNames;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests the matches while objects arrive, change and are deleted. */
class PolicyEvaluatorTest {

    private static final String BROKEN = "resource.status.phase == 'Failed'";
    private static final String COSTLY = "resource.metadata.name.replace('', 'x'.replace('x', '" + "y".repeat(2000)
            + "')).replace('y', '" + "z".repeat(1500) + "') == ''";
    private static final String LOOPS = "[{name: a, ready: false, state: {waiting: {reason: CrashLoopBackOff}}}]";
    private static final String RUNS = "[{name: a, ready: false, state: {running: {}}}]";
    private static final String READY = "[{name: a, ready: true, state: {running: {}}}]";

    private final Set<String> changed = new HashSet<>();
    private final MatchIndex book = new MatchIndex(changed::add);
    private final ScheduledThreadPoolExecutor timers = new ScheduledThreadPoolExecutor(1);
    private final TestClock clock = new TestClock();
    private final AtomicInteger completions = new AtomicInteger();

    {
        clock.set(Instant.parse("2026-11-22T12:00:00Z"));
    }

    @AfterEach
    void stop() {
        timers.shutdownNow();
    }

    private PolicyEvaluator watch(PolicyStats... runs) {
        return new PolicyEvaluator(
                runs[0].source().resource(),
                List.of(runs),
                book,
                timers,
                clock,
                new MonitorMetrics(),
                completions::incrementAndGet);
    }

    private static PolicyStats run(String name, String predicate) {
        return new PolicyStats(compiled(policy(name, predicate)));
    }

    private List<String> reported(String node) {
        return book.ofNode(node).keySet().stream().map(Match.Key::toString).toList();
    }

    private static Map<String, Object> named(String name, String node, String phase, String containers) {
        return pod("gpu-operator", name, node, phase, containers);
    }

    @Test
    void podsAreTrackedByName() {
        PolicyEvaluator watch = watch(run("p", BROKEN));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Failed", RUNS));
        watch.onUpsert("gpu-operator/b", named("b", "n1", "Failed", RUNS));
        assertThat(reported("n1")).containsExactly("p/gpu-operator/a", "p/gpu-operator/b");
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", READY));
        assertThat(reported("n1")).containsExactly("p/gpu-operator/b");
        changed.clear();
        watch.onDelete("gpu-operator/b");
        assertThat(reported("n1")).isEmpty();
        assertThat(changed).containsExactly("n1");
    }

    @Test
    void briefRunInCrashLoopClearsNothing() {
        String loop = "resource.status.containerStatuses.exists(c, has(c.state.waiting))";
        PolicyEvaluator watch = watch(run("p", loop));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", RUNS));
        assertThat(reported("n1")).as("an unready pod alone raises nothing").isEmpty();
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", LOOPS));
        changed.clear();
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", RUNS));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", LOOPS));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", RUNS));
        assertThat(reported("n1")).hasSize(1);
        assertThat(changed).isEmpty();
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", READY));
        assertThat(reported("n1")).isEmpty();
    }

    /** Tests a container without a readiness probe, which the kubelet reports as ready as soon as it runs. */
    @Test
    void briefReadinessInCrashLoopClearsNothing() {
        String loop = "resource.status.containerStatuses.exists(c, has(c.state.waiting))";
        String again = "[{name: a, ready: true, state: {running: {startedAt: '2026-11-22T12:00:20Z'}}, lastState:"
                + " {terminated: {startedAt: '2026-11-22T12:00:00Z', finishedAt: '2026-11-22T12:00:03Z'}}}]";
        clock.set(Instant.parse("2026-11-22T12:00:20Z"));
        PolicyEvaluator watch = watch(run("p", loop));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", LOOPS));
        assertThat(watch.timed()).isZero();
        changed.clear();
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", again));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", LOOPS));
        assertThat(watch.timed()).isZero();
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Running", again));
        assertThat(reported("n1")).hasSize(1);
        assertThat(changed).isEmpty();
        assertThat(watch.timed()).as("it recovers by time alone").isEqualTo(1);
        clock.set(Instant.parse("2026-11-22T12:00:30Z"));
        watch.resync();
        assertThat(reported("n1")).isEmpty();
        assertThat(watch.timed()).isZero();
    }

    @Test
    void faultStaysWhenEvaluationFailsOrNodeIsMissing() {
        PolicyEvaluator watch = watch(disks("minHealthySeconds: 0"));
        watch.onUpsert("a", TestPolicies.yaml("{spec: {node: n1}, status: {health: bad}}"));
        assertThat(reported("n1")).hasSize(1);
        changed.clear();
        watch.onUpsert("a", TestPolicies.yaml("{spec: {node: n1}, status: {}}"));
        watch.onUpsert("a", TestPolicies.yaml("{spec: {}, status: {health: bad}}"));
        watch.onUpsert("a", TestPolicies.yaml("{spec: {}, status: {}}"));
        assertThat(reported("n1")).hasSize(1);
        assertThat(changed).isEmpty();
        watch.onUpsert("a", TestPolicies.yaml("{spec: {node: n1}, status: {health: good}}"));
        assertThat(reported("n1")).isEmpty();
    }

    private static PolicyStats disks(String spec) {
        return new PolicyStats(compiled(TestPolicies.with(
                TestPolicies.resource("p", "Disk", "resource.status.health == 'bad'", "resource.spec.node"), spec)));
    }

    private static Map<String, Object> disk(String health) {
        return TestPolicies.yaml("{spec: {node: n1}, status: {health: " + health + "}}");
    }

    /** An operator that rewrites a status would otherwise cause a cordon and a drain each time. */
    @Test
    void flappingObjectKeepsItsFaultUntilItIsHealthyLongEnough() {
        PolicyEvaluator watch = watch(disks("{}"));
        watch.onUpsert("a", disk("bad"));
        assertThat(reported("n1")).as("raised immediately").hasSize(1);
        changed.clear();
        for (int i = 0; i < 3; i++) {
            watch.onUpsert("a", disk("good"));
            clock.advance(Duration.ofSeconds(299));
            watch.resync();
            assertThat(reported("n1")).hasSize(1);
            watch.onUpsert("a", disk("bad"));
        }
        watch.onUpsert("a", disk("good"));
        assertThat(watch.timed()).as("time alone clears it").isEqualTo(1);
        clock.advance(Duration.ofSeconds(200));
        PolicyEvaluator next = watch(disks("{}"));
        next.onUpsert("a", disk("good"));
        clock.advance(Duration.ofSeconds(299));
        next.resync();
        assertThat(reported("n1")).as("the next leader begins again").hasSize(1);
        assertThat(changed).isEmpty();
        clock.advance(Duration.ofSeconds(1));
        next.resync();
        assertThat(reported("n1")).isEmpty();
        assertThat(next.timed()).isZero();
    }

    @Test
    void objectIsReportedAfterItMatchedForMinMatchSeconds() {
        PolicyEvaluator watch = watch(disks("minMatchSeconds: 60"));
        for (int i = 0; i < 3; i++) {
            watch.onUpsert("a", disk("bad"));
            clock.advance(Duration.ofSeconds(59));
            watch.resync();
            watch.onUpsert("a", disk("good"));
        }
        assertThat(changed).isEmpty();
        Instant first = clock.instant();
        watch.onUpsert("a", disk("bad"));
        clock.advance(Duration.ofSeconds(30));
        watch.onUpsert("a", disk("bad"));
        clock.advance(Duration.ofSeconds(30));
        watch.resync();
        assertThat(book.get("p", "a").orElseThrow().since()).isEqualTo(first);
        watch.onDelete("a");
        assertThat(reported("n1")).as("deleted objects clear immediately").isEmpty();
    }

    @Test
    void deletedObjectClearsAlsoForStoppedPolicy() {
        PolicyStats run = run("p", "resource.status.phase == 'Failed' || " + COSTLY);
        PolicyEvaluator watch = watch(run);
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Failed", RUNS));
        for (int i = 0; i < 5; i++) {
            watch.onUpsert("gpu-operator/b" + i, named("b" + i, "n1", "Running", RUNS));
        }
        assertThat(run.stopped()).get().asString().contains("it reads or creates more than 4000000 characters");
        assertThat(reported("n1")).hasSize(1);
        watch.onDelete("gpu-operator/a");
        assertThat(reported("n1")).isEmpty();
    }

    /** Rejected pods never become ready; they are evidence, and grow old. */
    @Test
    void countedObjectsNeedNotRecover() {
        PolicyStats run = new PolicyStats(compiled(TestPolicies.with(
                TestPolicies.resource(
                        "p",
                        "Pod",
                        "resource.status.phase == 'Failed' && now < timestamp('2026-11-22T12:10:00Z')",
                        "resource.spec.nodeName"),
                "minMatches: 3")));
        PolicyEvaluator watch = watch(run);
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Failed", "[]"));
        watch.onUpsert("gpu-operator/b", named("b", "n1", "Failed", "[]"));
        assertThat(reported("n1")).hasSize(2);
        assertThat(book.mostOfANode("p")).isEqualTo(2);
        Map<String, Object> odd = named("b", "n1", "Failed", "[]");
        odd.put("status", Map.of());
        watch.onUpsert("gpu-operator/b", odd);
        assertThat(reported("n1")).as("an error is no recovery").hasSize(2);
        watch.onUpsert("gpu-operator/b", named("b", "n1", "Failed", "[]"));
        clock.set(Instant.parse("2026-11-22T12:10:00Z"));
        watch.resync();
        assertThat(reported("n1")).isEmpty();
        assertThat(book.mostOfANode("p")).isZero();
    }

    /** A scrape and the status of other policies must not wait for an evaluation. */
    @Test
    void readersDoNotWaitForAnEvaluation() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        PolicyEvaluator watch = watch(run("p", "resource.status.phase == 'Failed'"));
        Map<String, Object> slow = new HashMap<>(named("a", "n1", "Failed", RUNS)) {
            private static final long serialVersionUID = 1L;

            @Override
            public Object get(Object key) {
                if (key.equals("status")) {
                    asked.countDown();
                    try {
                        release.await();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }
                return super.get(key);
            }
        };
        var evaluation = CompletableFuture.runAsync(() -> watch.evaluate("gpu-operator/a", slow));
        asked.await();
        assertThat(watch.isComplete()).isFalse();
        assertThat(watch.timed()).isZero();
        watch.close();
        release.countDown();
        evaluation.get(20, TimeUnit.SECONDS);
        assertThat(reported("n1")).as("it was closed during the evaluation").isEmpty();
    }

    @Test
    void objectMovesToItsNewNode() {
        PolicyEvaluator watch = watch(run("p", BROKEN));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Failed", RUNS));
        watch.onUpsert("gpu-operator/a", named("a", "n2", "Failed", RUNS));
        assertThat(reported("n1")).isEmpty();
        assertThat(reported("n2")).hasSize(1);
    }

    @Test
    void objectWithoutNodeIsCountedAndNotReported() {
        PolicyStats run = run("p", BROKEN);
        PolicyEvaluator watch = watch(run);
        watch.onUpsert("gpu-operator/a", named("a", "", "Failed", RUNS));
        assertThat(book.nodes()).isEmpty();
        assertThat(run.withoutNode()).isEqualTo(1);
        assertThat(run.aNodelessObject()).startsWith("gpu-operator/a: nodeAssociation");
        watch.onDelete("gpu-operator/a");
        assertThat(run.withoutNode()).isZero();
    }

    @Test
    void earlierMatchesStayUntilAllObjectsHaveArrived() {
        book.put("p", "gpu-operator/gone", new Match("n1", Instant.EPOCH, "", false, 0));
        book.put("p", "gpu-operator/well", new Match("n1", Instant.EPOCH, "", false, 0));
        PolicyStats run = run("p", "has(resource.status.nothing)");
        book.put("p", "gpu-operator/unready", new Match("n1", Instant.EPOCH, run.digest(), false, 0));
        book.put("p", "gpu-operator/other", new Match("n1", Instant.EPOCH, "another policy", false, 0));
        PolicyEvaluator watch = watch(run);
        watch.onUpsert("gpu-operator/well", named("well", "n1", "Running", READY));
        watch.onUpsert("gpu-operator/unready", named("unready", "n1", "Running", RUNS));
        watch.onUpsert("gpu-operator/other", named("other", "n1", "Running", RUNS));
        assertThat(reported("n1")).containsExactly("p/gpu-operator/gone", "p/gpu-operator/unready");
        watch.onSynced();
        assertThat(reported("n1")).containsExactly("p/gpu-operator/unready");
        assertThat(completions).hasValue(1);
    }

    @Test
    void newWatchOfTheSameObjectsChangesNothing() {
        PolicyStats run = run("p", BROKEN);
        PolicyEvaluator first = watch(run);
        first.onUpsert("gpu-operator/a", named("a", "n1", "Failed", RUNS));
        first.onUpsert("gpu-operator/b", named("b", "n1", "Failed", RUNS));
        first.onSynced();
        Instant since = book.get("p", "gpu-operator/a").orElseThrow().since();
        first.close();
        changed.clear();
        clock.advance(Duration.ofSeconds(100));
        PolicyEvaluator second = watch(run);
        first.onDelete("gpu-operator/a");
        second.onUpsert("gpu-operator/a", named("a", "n1", "Failed", RUNS));
        assertThat(changed).isEmpty();
        second.onSynced();
        assertThat(reported("n1")).containsExactly("p/gpu-operator/a");
        assertThat(book.get("p", "gpu-operator/a").orElseThrow().since()).isEqualTo(since);
    }

    @Test
    void faultRaisedByTimeAloneIsForeseen() {
        PolicyEvaluator watch = watch(run(
                "p",
                "resource.status.phase == 'Pending'"
                        + " && now - timestamp(resource.status.startTime) > duration('2h') + duration('1s')"));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Pending", "[]"));
        watch.onUpsert("gpu-operator/b", named("b", "n1", "Running", READY));
        assertThat(watch.timed())
                .as("time does not change the result for a running pod")
                .isEqualTo(1);
        assertThat(reported("n1")).isEmpty();
        clock.set(Instant.parse("2026-11-22T12:00:01.002Z"));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (reported("n1").isEmpty()) {
            assertThat(System.nanoTime()).isLessThan(end);
            Thread.onSpinWait();
        }
        assertThat(reported("n1")).containsExactly("p/gpu-operator/a");
        watch.onDelete("gpu-operator/a");
        assertThat(watch.timed()).isZero();
        assertThat(reported("n1")).isEmpty();
    }

    @Test
    void resyncEvaluatesTimedObjectsAgain() {
        PolicyEvaluator watch =
                watch(run("p", "now > timestamp('2026-11-22T12:10:00Z') && now < timestamp('2026-11-22T12:20:00Z')"));
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Pending", "[]"));
        clock.set(Instant.parse("2026-11-22T12:15:00Z"));
        watch.resync();
        assertThat(reported("n1")).hasSize(1);
    }

    @Test
    void slowPolicyIsStoppedAndOthersContinue() {
        PolicyStats loops =
                run("loops", "resource.status.items.all(a, resource.status.items.all(b, a != 'x' || b != 'x'))");
        PolicyEvaluator watch = watch(loops, run("p", "has(resource.status.items)"));
        book.put("loops", "gpu-operator/before", new Match("n1", Instant.EPOCH, loops.digest(), true, 0));
        List<String> many = new ArrayList<>(
                IntStream.range(0, 2000).mapToObj(Integer::toString).toList());
        for (int i = 0; i < 8; i++) {
            Map<String, Object> big = named("a" + i, "n1", "Pending", "[]");
            big.put("status", Map.of("items", many));
            watch.onUpsert("gpu-operator/a" + i, big);
        }
        assertThat(loops.stopped().orElseThrow()).contains("too many steps");
        assertThat(loops.evaluations()).isEqualTo(5);
        watch.onDelete("gpu-operator/before");
        watch.onSynced();
        assertThat(reported("n1"))
                .as("matches of the other policy")
                .hasSize(8)
                .noneMatch(key -> key.startsWith("loops"));
    }

    @Test
    void shortenedNamesStayDifferent() {
        String one = "gpu-operator/" + "x".repeat(250) + "1";
        String other = "gpu-operator/" + "x".repeat(250) + "2";
        assertThat(ObjectNames.shortened(one)).hasSize(256).isNotEqualTo(ObjectNames.shortened(other));
    }

    @Test
    void errorRaisesNothingAndEndsWithItsCause() {
        PolicyStats run = run("p", "resource.status.reason == 'Evicted'");
        PolicyEvaluator watch = watch(run);
        watch.onUpsert("gpu-operator/a", named("a", "n1", "Failed", RUNS));
        assertThat(run.erring()).isEqualTo(1);
        assertThat(run.anError()).startsWith("gpu-operator/a: ").contains("reason");
        assertThat(reported("n1")).isEmpty();
        Map<String, Object> evicted = named("a", "n1", "Failed", RUNS);
        evicted.put("status", Map.of("reason", "Evicted"));
        watch.onUpsert("gpu-operator/a", evicted);
        assertThat(run.erring()).isZero();
        assertThat(reported("n1")).hasSize(1);
    }
}
