package dev.gpuwarden.checks;

import static dev.gpuwarden.checks.ScriptedCheck.BAD;
import static dev.gpuwarden.checks.ScriptedCheck.GOOD;
import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.check.RunningCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Requests to a runner with its own threads, in real time. */
class RequestedRunTest {

    private static final NodePaths PATHS =
            NodePaths.of(Path.of("/nonexistent"), Path.of("/nonexistent"), Path.of("/nonexistent"));

    private final CountDownLatch go = new CountDownLatch(1);
    private final List<CheckResult> ended = new CopyOnWriteArrayList<>();
    private final List<RunningCheck> running = new CopyOnWriteArrayList<>();

    private final RunListener listener = new RunListener() {
        @Override
        public void ended(CheckResult result) {
            ended.add(result);
        }

        @Override
        public void running(List<RunningCheck> now) {
            running.addAll(now);
        }
    };

    /** The check "a-slow", which waits for the test, has the first place by its ID; "b-quick" has none of its time. */
    private CheckRunner runner(Function<CheckContext, List<Finding>> slow) {
        return runner(CheckPlan.of(List.of(
                new ScriptedCheck(CheckInfo.of("a-slow", "NIC", "Waits."), Duration.ofSeconds(20), slow),
                ScriptedCheck.of("b-quick", context -> List.of(GOOD)))));
    }

    private static CheckRunner runner(CheckPlan plan) {
        CheckRunner runner = new CheckRunner(
                plan,
                CheckEnvironment.once(NodeFixture.node(1), Limits.NONE, Expectations.NONE, PATHS),
                results -> {},
                TimeGrid.from(System.nanoTime()));
        runner.start();
        return runner;
    }

    private List<Finding> afterGo(CheckContext context) {
        context.progress("half of the port", 1, 2);
        try {
            assertThat(go.await(20, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return List.of(GOOD);
    }

    @Test
    void proofsStandWhenTheRunFailsOrHangs() {
        ScriptedCheck fails = ScriptedCheck.of("fails", context -> {
            context.proven(BAD);
            throw new IllegalStateException("after the proof");
        });
        ScriptedCheck hangs = ScriptedCheck.of("hangs", context -> {
            context.proven(BAD);
            return afterGo(context);
        });
        ScriptedCheck ends = ScriptedCheck.of("ends", context -> {
            context.proven(BAD);
            return List.of(GOOD);
        });
        CheckPlan plan = CheckPlan.of(List.of(fails, hangs, ends)).deadline(Duration.ofMillis(200));
        try (CheckRunner runner = runner(plan)) {
            assertThat(runner.run(List.of(), RunListener.NONE)).allSatisfy(result -> {
                assertThat(result.outcome()).isEqualTo(Outcome.FAIL);
                assertThat(result.findings()).contains(BAD);
            });
            go.countDown();
        }
    }

    @Test
    void resultsComeInTheOrderOfTheirEndsAndProgressBefore() {
        try (CheckRunner runner = runner(this::afterGo)) {
            var asked = CompletableFuture.supplyAsync(() -> runner.run(List.of(), listener));
            until(() -> !running.isEmpty());
            assertThat(ended).extracting(result -> result.check().id()).containsExactly("b-quick");
            assertThat(running.get(0).check().id()).isEqualTo("a-slow");
            assertThat(running.get(0).progress()).isEqualTo(new RunningCheck.Progress("half of the port", 1, 2));
            assertThat(runner.running()).containsExactly(running.get(0));
            go.countDown();
            assertThat(asked.join()).extracting(result -> result.check().id()).containsExactly("a-slow", "b-quick");
            assertThat(ended).extracting(result -> result.check().id()).containsExactly("b-quick", "a-slow");
            assertThat(runner.running()).isEmpty();
        }
    }

    @Test
    void aRequestWithoutAListenerForItsResultsEndsEarly() {
        RunListener gone = new RunListener() {
            @Override
            public boolean gone() {
                return true;
            }
        };
        try (CheckRunner runner = runner(this::afterGo)) {
            assertThat(runner.run(List.of(), gone))
                    .extracting(result -> result.check().id())
                    .containsExactly("b-quick");
            assertThat(runner.running()).hasSize(1);
            go.countDown();
            until(() -> runner.results().size() == 2);
        }
    }

    @Test
    void aListenerThatBlocksDelaysNoOtherRequest() {
        CountDownLatch blocks = new CountDownLatch(1);
        RunListener blocked = new RunListener() {
            @Override
            public void ended(CheckResult result) {
                try {
                    assertThat(blocks.await(20, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        go.countDown();
        try (CheckRunner runner = runner(this::afterGo)) {
            var first = CompletableFuture.supplyAsync(() -> runner.run(List.of("b-quick"), blocked));
            until(() -> !runner.results().isEmpty());
            assertThat(runner.run(List.of())).hasSize(2);
            assertThat(first).isNotDone();
            blocks.countDown();
            assertThat(first.join()).hasSize(1);
        }
    }
}
