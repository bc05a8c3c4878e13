package dev.gpuwarden.aggregator.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.ManualDrainState;
import dev.gpuwarden.aggregator.drain.ManualDrainState.ManualPod.State;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DrainProgressTest {

    private static final Instant NOW = Instant.parse("2026-11-22T06:00:00Z");

    private final List<String> lines = new ArrayList<>();
    private final DrainProgress progress = new DrainProgress("n", lines::add);

    private void evaluate(long seconds, ManualDrainState.ManualPod... pods) {
        lines.clear();
        progress.evaluated(new ManualDrainState(List.of(pods), List.of(), Optional.empty()), NOW.plusSeconds(seconds));
    }

    private static ManualDrainState.ManualPod pod(String name, State state, String why) {
        return new ManualDrainState.ManualPod("team/" + name, name, state, why, NOW, NOW);
    }

    @Test
    void eachChangeIsALineAndALineFollowsAfterTenSecondsWithoutOne() {
        evaluate(
                0,
                pod("a", State.EVICT, ""),
                pod("b", State.STAYS, "nobody \u001b[31m starts it"),
                pod("c", State.LEFT, "of a DaemonSet"));
        assertThat(lines)
                .containsExactly(
                        "n: one pod to go, one pod that you must handle, one pod that may stay",
                        "team/b: stays: nobody \\u001b[31m starts it");
        ManualDrainState.ManualPod stays = pod("b", State.STAYS, "nobody \u001b[31m starts it");
        evaluate(1, pod("a", State.REFUSED, "the budget web"), stays);
        assertThat(lines).containsExactly("team/a: refused since 2026-11-22T06:00:00Z: the budget web");
        evaluate(9, pod("a", State.REFUSED, "the budget web"), stays);
        assertThat(lines).isEmpty();
        evaluate(11, pod("a", State.REFUSED, "the budget web"), stays);
        assertThat(lines)
                .containsExactly("n: one pod to go, 0 gone after 11s; team/a: refused since"
                        + " 2026-11-22T06:00:00Z: the budget web");
        evaluate(12, pod("a", State.GOING, "it has until noon"), stays);
        assertThat(lines).containsExactly("team/a: evicted, it has until noon");
        evaluate(13, pod("a", State.GONE, ""), stays);
        assertThat(lines).containsExactly("team/a: gone");
    }

    @Test
    void linesBecomeRarerWithTime() {
        ManualDrainState.ManualPod pod = pod("a", State.GOING, "it has until noon");
        List<Long> spoken = new ArrayList<>();
        for (long second = 0; second < 600; second += 5) {
            evaluate(second, pod);
            if (!lines.isEmpty()) {
                spoken.add(second);
            }
        }
        assertThat(spoken)
                .containsExactly(
                        0L, 10L, 20L, 30L, 40L, 55L, 75L, 100L, 135L, 180L, 240L, 300L, 360L, 420L, 480L, 540L);
    }

    @Test
    void waitBeforeThePodsIsOneLine() {
        progress.waits("its daemon is asked");
        progress.waits("its daemon is asked");
        assertThat(lines).containsExactly("n: its daemon is asked");
    }
}
