package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.command.ClusterDemoRunner.ClusterDemoCheck;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterDemoRunnerTest {

    private static final ClusterDemoCheck CHECK = ClusterDemoCheck.of("kubectl get nodehealth", "^node-1 +Faulty");

    private final StringWriter out = new StringWriter();
    private final List<String> done = new ArrayList<>();

    private boolean run(List<String> answers) {
        List<String> left = new ArrayList<>(answers);
        ClusterDemoRunner runner = new ClusterDemoRunner(
                command -> {
                    String now = left.size() > 1 ? left.remove(0) : left.get(0);
                    if (now.startsWith("error")) {
                        throw new IllegalStateException(now);
                    }
                    return now;
                },
                new PrintWriter(out),
                Duration.ofMillis(20));
        return runner.run(List.of(step("a GPU is lost"), step("the end")));
    }

    private ClusterDemoRunner.Step step(String title) {
        return new ClusterDemoRunner.Step(title, () -> done.add(title), List.of(CHECK), Duration.ofMillis(300));
    }

    @Test
    void stepSucceedsWhenCheckMatchesWithinLimit() {
        assertThat(run(List.of("error: no answer", "node-1   Healthy\n", "node-1   Faulty\n")))
                .isTrue();
        assertThat(done).containsExactly("a GPU is lost", "the end");
        assertThat(out.toString())
                .contains("a GPU is lost\n$ kubectl get nodehealth\nnode-1   Faulty\nseen after ")
                .doesNotContain("NOT SEEN");
    }

    @Test
    void failedStepEndsTheRun() {
        assertThat(run(List.of("node-1   Healthy\n"))).isFalse();
        assertThat(done).containsExactly("a GPU is lost");
        assertThat(out.toString()).contains("node-1   Healthy\nexpected (?m)^node-1 +Faulty\nNOT SEEN within ");
    }

    @Test
    void equalCommandsRunOnce() {
        List<String> asked = new ArrayList<>();
        ClusterDemoRunner runner = new ClusterDemoRunner(
                command -> {
                    asked.add(command);
                    return "node-1   Faulty\nnode-2   Healthy\n";
                },
                new PrintWriter(out));
        ClusterDemoCheck second = ClusterDemoCheck.of("kubectl get nodehealth", "^node-2 +Healthy");
        assertThat(runner.run(List.of(new ClusterDemoRunner.Step(
                        "a GPU is lost", () -> {}, List.of(CHECK, second), Duration.ofSeconds(1)))))
                .isTrue();
        assertThat(asked).containsExactly("kubectl get nodehealth");
    }

    @Test
    void failedActionIsReported() {
        ClusterDemoRunner runner = new ClusterDemoRunner(command -> "", new PrintWriter(out));
        boolean all = runner.run(List.of(new ClusterDemoRunner.Step(
                "a GPU is lost",
                () -> {
                    throw new IllegalStateException("no such GPU");
                },
                List.of(CHECK),
                Duration.ofSeconds(1))));
        assertThat(all).isFalse();
        assertThat(out.toString()).contains("NOT DONE: no such GPU");
    }

    @Test
    void failedQueryNeverMatches() {
        assertThat(run(List.of("error: no answer"))).isFalse();
    }
}
