package dev.gpuwarden.checks;

import static dev.gpuwarden.checks.ScriptedCheck.BAD;
import static dev.gpuwarden.checks.ScriptedCheck.GOOD;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The runner with its own threads and in real time; intervals are short. */
class CheckRunnerTest {

    private static final NodePaths PATHS =
            NodePaths.of(Path.of("/nonexistent"), Path.of("/nonexistent"), Path.of("/nonexistent"));

    private final AtomicReference<NodeSnapshot> node = new AtomicReference<>(NodeFixture.node(1));
    private final List<CheckResult> published = new CopyOnWriteArrayList<>();

    private CheckEnvironment environment() {
        CheckEnvironment once = CheckEnvironment.once(node.get(), Limits.NONE, Expectations.NONE, PATHS);
        return new CheckEnvironment(
                node::get,
                once.histories(),
                once.limits(),
                once.expectations(),
                once.sources(),
                once.paths(),
                once.clock());
    }

    private CheckRunner runner(Duration deadline, HealthCheck... checks) {
        CheckRunner runner = new CheckRunner(
                CheckPlan.of(List.of(checks)).deadline(deadline),
                environment(),
                published::addAll,
                TimeGrid.from(System.nanoTime()));
        runner.start();
        return runner;
    }

    private static ScriptedCheck often(String id, HealthCheck check) {
        CheckInfo info = CheckInfo.of(id, "NIC", "Often.").every(Duration.ofMillis(20));
        return new ScriptedCheck(info, check.deadline(), check::run);
    }

    @Test
    void dueChecksRunRepeatedlyAndEachResultIsPublishedOnce() {
        ScriptedCheck check = often("port", ScriptedCheck.of("port", context -> List.of(GOOD)));
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, check)) {
            until(() -> published.size() >= 5);
            assertThat(runner.results()).hasSize(1);
            assertThat(runner.results().get(0).outcome()).isEqualTo(Outcome.PASS);
        }
        assertThat(published.size()).isLessThanOrEqualTo(check.runs.get());
        assertThat(published).extracting(CheckResult::at).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void requestedRunReturnsAFreshResult() {
        AtomicReference<Finding> now = new AtomicReference<>(GOOD);
        ScriptedCheck port = ScriptedCheck.of("port", context -> List.of(now.get()));
        ScriptedCheck other = ScriptedCheck.of("other", context -> List.of());
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, port, other)) {
            assertThat(runner.run(List.of()))
                    .extracting(result -> result.check().id())
                    .containsExactly("other", "port");
            now.set(BAD);
            assertThat(runner.run(List.of("port")))
                    .extracting(CheckResult::outcome)
                    .containsExactly(Outcome.FAIL);
            assertThat(runner.run(List.of("other")))
                    .extracting(CheckResult::outcome)
                    .containsExactly(Outcome.SKIPPED);
            assertThatThrownBy(() -> runner.run(List.of("prot")))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("unknown check 'prot'");
        }
    }

    @Test
    void requestWaitsForARunUnderWay() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch go = new CountDownLatch(1);
        ScriptedCheck slow = ScriptedCheck.of("slow", context -> {
            begun.countDown();
            await(go);
            return List.of(GOOD);
        });
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, slow)) {
            begun.await();
            List<CompletableFuture<List<CheckResult>>> askers = IntStream.range(0, 8)
                    .mapToObj(i -> CompletableFuture.supplyAsync(() -> runner.run(List.of("slow"))))
                    .toList();
            TimeUnit.MILLISECONDS.sleep(50);
            go.countDown();
            askers.forEach(asker -> assertThat(asker.join()).hasSize(1));
            // A request before the result is satisfied by it; a request after it causes one more run at most.
            assertThat(slow.runs.get()).isLessThanOrEqualTo(2);
        }
    }

    private static void await(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void hangingCheckIsUnknownAndDoesNotDelayOthers() {
        CountDownLatch go = new CountDownLatch(1);
        ScriptedCheck hangs = ScriptedCheck.of("a-hangs", context -> {
            await(go);
            return List.of(GOOD);
        });
        ScriptedCheck works = ScriptedCheck.of("works", context -> List.of(GOOD));
        try (CheckRunner runner = runner(Duration.ofMillis(100), hangs, works)) {
            assertThat(runner.run(List.of("works")))
                    .extracting(CheckResult::outcome)
                    .containsExactly(Outcome.PASS);
            for (int i = 0; i < 3; i++) {
                Finding finding =
                        runner.run(List.of("a-hangs")).get(0).findings().get(0);
                assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
                assertThat(finding.code()).isEqualTo("check-hung");
                assertThat(finding.message()).startsWith("the check a-hangs has not returned for");
            }
            assertThat(hangs.runs.get()).isEqualTo(1);
            go.countDown();
            until(() -> runner.run(List.of("a-hangs")).get(0).outcome() == Outcome.PASS);
            assertThat(hangs.runs.get()).isGreaterThan(1);
        }
    }

    @Test
    void slowCheckDoesNotDelayOthers() {
        CountDownLatch go = new CountDownLatch(1);
        ScriptedCheck script =
                new ScriptedCheck(CheckInfo.of("a-script", "NODE", "Waits."), Duration.ofSeconds(20), context -> {
                    await(go);
                    return List.of(GOOD);
                });
        ScriptedCheck quick = ScriptedCheck.of("quick", context -> List.of(GOOD));
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, script, quick)) {
            CompletableFuture<List<CheckResult>> all = CompletableFuture.supplyAsync(() -> runner.run(List.of()));
            assertThat(runner.run(List.of("quick"))).hasSize(1);
            assertThat(all).isNotDone();
            go.countDown();
            assertThat(all.join()).hasSize(2);
        }
    }

    @Test
    void thrownErrorsAreUnknown() {
        ScriptedCheck throwing = ScriptedCheck.of("throwing", context -> {
            throw new IllegalStateException("no such \u001b[31m file");
        });
        ScriptedCheck wrong = ScriptedCheck.of("wrong", context -> {
            throw new AssertionError();
        });
        ScriptedCheck deep = ScriptedCheck.of("deep", CheckRunnerTest::endless);
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, throwing, wrong, deep)) {
            List<CheckResult> results = runner.run(List.of("throwing", "wrong", "deep"));
            assertThat(results).allSatisfy(result -> {
                assertThat(result.outcome()).isEqualTo(Outcome.UNKNOWN);
                assertThat(result.findings()).extracting(Finding::code).containsExactly("check-failed");
            });
            assertThat(results.get(0).findings().get(0).message())
                    .isEqualTo("the check throwing failed: IllegalStateException: no such \u001b[31m file");
        }
    }

    @SuppressWarnings("InfiniteRecursion")
    private static List<Finding> endless(CheckContext context) {
        List<Finding> more = endless(context);
        return more.isEmpty() ? more : List.of();
    }

    @Test
    void scheduledRunsWaitForFirstReadingsAndRequestsDoNot() {
        node.set(new NodeSnapshot(new DriverState.Opening(), NodeFixture.node(1).pciGpus(), List.of()));
        ScriptedCheck waiting = ScriptedCheck.of("waiting", context -> List.of(GOOD));
        ScriptedCheck requested = ScriptedCheck.of("asked", context -> List.of(GOOD));
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, waiting, requested)) {
            assertThat(runner.run(List.of("asked"))).hasSize(1);
            assertThat(waiting.runs.get()).isZero();
            node.set(NodeFixture.node(1));
            until(() -> runner.results().size() == 2);
        }
    }

    @Test
    void changeTriggersARun() {
        ScriptedCheck check = ScriptedCheck.of("port", context -> List.of(GOOD));
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, check)) {
            until(() -> published.size() == 1);
            runner.runSoon();
            until(() -> published.size() == 2);
        }
    }

    @Test
    void requestEndsWhenTheRunnerStops() {
        CountDownLatch go = new CountDownLatch(1);
        ScriptedCheck hangs = ScriptedCheck.of("hangs", context -> {
            await(go);
            return List.of(GOOD);
        });
        CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, hangs);
        CompletableFuture<List<CheckResult>> asker = CompletableFuture.supplyAsync(() -> runner.run(List.of()));
        until(() -> hangs.runs.get() == 1);
        runner.close();
        assertThat(asker.join()).isEmpty();
        go.countDown();
    }

    @Test
    void pendingHistoryIsSkippedAndBrokenHistoryIsUnknown() {
        String gpu = NodeFixture.identity(0).label();
        ScriptedCheck rate = ScriptedCheck.of("rate", context -> {
            var unused = context.history(context.node().gpus().get(0).identity())
                    .increase(GpuMetric.PCIE_REPLAYS, Duration.ofMinutes(5));
            return List.of(
                    Finding.unknown("rate-unknown", Subject.of(NodeFixture.identity(0)), "no rate yet", ""),
                    Finding.unknown("rate-unknown", Subject.of(NodeFixture.identity(1)), "broken", ""));
        });
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, rate)) {
            List<Finding> findings = runner.run(List.of("rate")).get(0).findings();
            assertThat(findings).extracting(Finding::outcome).containsExactly(Outcome.SKIPPED, Outcome.UNKNOWN);
            assertThat(findings.get(0).code()).isEqualTo("needs-time");
            assertThat(findings.get(0).subject().label()).isEqualTo(gpu);
        }
    }

    @Test
    void findingsAreBoundedAndEachPartHasOne() {
        ScriptedCheck flood = ScriptedCheck.of(
                "flood",
                context -> IntStream.range(0, 100_000)
                        .mapToObj(i -> Finding.warn("w", Subject.of(new Entity("NIC", "n" + i)), "x".repeat(9), ""))
                        .toList());
        ScriptedCheck twice = ScriptedCheck.of("twice", context -> List.of(GOOD, BAD, GOOD));
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, flood, twice)) {
            List<Finding> findings = runner.run(List.of("flood")).get(0).findings();
            assertThat(findings).hasSize(CheckExecution.MOST_FINDINGS + 1);
            assertThat(findings.get(CheckExecution.MOST_FINDINGS).code()).isEqualTo("too-many-findings");
            assertThat(runner.run(List.of("twice")).get(0).findings()).containsExactly(BAD);
        }
    }

    @Test
    void checksWithALoadOnGpusRunOneAfterTheOther() {
        AtomicInteger atWork = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        HealthCheck[] checks = IntStream.range(0, 4)
                .mapToObj(i ->
                        new ScriptedCheck(
                                CheckInfo.of("load-" + i, "GPU", "Load.").every(Duration.ofHours(1)),
                                Duration.ofSeconds(20),
                                context -> {
                                    most.accumulateAndGet(atWork.incrementAndGet(), Math::max);
                                    sleep(20);
                                    atWork.decrementAndGet();
                                    return List.of(GOOD);
                                }) {
                            @Override
                            public GpuLoad load() {
                                return GpuLoad.LIGHT;
                            }
                        })
                .toArray(HealthCheck[]::new);
        try (CheckRunner runner = runner(CheckPlan.DEFAULT_DEADLINE, checks)) {
            Thread first = new Thread(() -> runner.run(List.of("load-0")));
            first.start();
            assertThat(runner.run(List.of())).hasSize(4);
            assertThat(most).hasValue(1);
        }
    }

    @Test
    void partThatCouldNotBeCheckedIsNotOneWithAWarning() {
        Subject port = new Subject("port", List.of());
        List<Finding> both = List.of(Finding.warn("slow", port, "", ""), Finding.unknown("not-readable", port, "", ""));
        assertThat(CheckExecution.tidied(both, Set.of()))
                .extracting(Finding::code)
                .containsExactly("not-readable");
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
