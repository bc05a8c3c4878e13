package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterPlayTest {

    private static final ClusterLook LOOK = ClusterLook.of("kubectl get nodehealth", "^node-1 +Faulty");

    private final StringWriter out = new StringWriter();
    private final List<String> done = new ArrayList<>();

    private boolean play(List<String> answers) {
        List<String> left = new ArrayList<>(answers);
        ClusterPlay play = new ClusterPlay(
                command -> {
                    String now = left.size() > 1 ? left.remove(0) : left.get(0);
                    if (now.startsWith("error")) {
                        throw new IllegalStateException(now);
                    }
                    return now;
                },
                new PrintWriter(out),
                Duration.ofMillis(20));
        return play.play(List.of(act("a GPU is lost"), act("the end")));
    }

    private ClusterAct act(String what) {
        return new ClusterAct(what, () -> done.add(what), List.of(LOOK), Duration.ofMillis(300));
    }

    @Test
    void whatIsSeenLateButInTimeIsSeen() {
        assertThat(play(List.of("error: no answer", "node-1   Healthy\n", "node-1   Faulty\n")))
                .isTrue();
        assertThat(done).containsExactly("a GPU is lost", "the end");
        assertThat(out.toString())
                .contains("a GPU is lost\n$ kubectl get nodehealth\nnode-1   Faulty\nseen after ")
                .doesNotContain("NOT SEEN");
    }

    @Test
    void afterWhatIsNotSeenInTimeNothingMoreHappens() {
        assertThat(play(List.of("node-1   Healthy\n"))).isFalse();
        assertThat(done).containsExactly("a GPU is lost");
        assertThat(out.toString()).contains("node-1   Healthy\nexpected (?m)^node-1 +Faulty\nNOT SEEN within ");
    }

    @Test
    void whatIsShownTwiceIsAskedOnce() {
        List<String> asked = new ArrayList<>();
        ClusterPlay play = new ClusterPlay(
                command -> {
                    asked.add(command);
                    return "node-1   Faulty\nnode-2   Healthy\n";
                },
                new PrintWriter(out));
        assertThat(play.play(List.of(
                        ClusterAct.of("a GPU is lost", 1, () -> {}, LOOK, ClusterLook.health("node-2 +Healthy")))))
                .isTrue();
        assertThat(asked).containsExactly("kubectl get nodehealth");
    }

    @Test
    void whatCannotBeDoneIsTold() {
        ClusterPlay play = new ClusterPlay(command -> "", new PrintWriter(out));
        boolean all = play.play(List.of(ClusterAct.of(
                "a GPU is lost",
                1,
                () -> {
                    throw new IllegalStateException("no such GPU");
                },
                LOOK)));
        assertThat(all).isFalse();
        assertThat(out.toString()).contains("NOT DONE: no such GPU");
    }

    @Test
    void anAnswerThatCannotBeHadShowsNothing() {
        assertThat(play(List.of("error: no answer"))).isFalse();
    }
}
