package dev.gpuwarden.aggregator.objectmonitor;

import static dev.gpuwarden.aggregator.objectmonitor.TestPolicies.compiled;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests faults that time alone raises, keeps or clears. */
class PolicyTimeTest extends PolicyEvaluatorFixture {

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
}
