package dev.gpuwarden.aggregator.objectmonitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.objectmonitor.MatchIndex.Match;
import dev.gpuwarden.aggregator.objectmonitor.NodeFaults.ObjectNames;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Tests the matches while objects arrive, change and are deleted. */
class PolicyEvaluatorTest extends PolicyEvaluatorFixture {

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

    /** Tests a container without a readiness probe, which the kubelet reports as ready as soon as it runs. */
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

    /** An operator that rewrites a status would otherwise cause a cordon and a drain each time. */
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
