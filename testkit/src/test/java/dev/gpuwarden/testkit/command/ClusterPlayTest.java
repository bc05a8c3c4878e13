package dev.gpuwarden.testkit.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterPlayTest {

    private static final DemoLook LOOK = new DemoLook(List.of("get", "nodehealth"), DemoSign.of("^node-1 +Faulty"));

    private final StringWriter out = new StringWriter();
    private final List<String> done = new ArrayList<>();

    private boolean play(List<String> answers) {
        List<String> left = new ArrayList<>(answers);
        ClusterPlay play = new ClusterPlay(
                arguments -> {
                    String now = left.size() > 1 ? left.remove(0) : left.get(0);
                    if (now.startsWith("error")) {
                        throw new IllegalStateException(now);
                    }
                    return now;
                },
                new PrintWriter(out));
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
        assertThat(out.toString()).contains("node-1   Healthy\nNOT SEEN within ");
    }

    @Test
    void anAnswerThatCannotBeHadShowsNothing() {
        assertThat(play(List.of("error: no answer"))).isFalse();
    }
}
