package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.aggregator.pods.PodView.Checkpoint;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CheckpointSignalsTest {

    private static final Instant TOLD = NOW.plusSeconds(10);

    private final Map<String, String> annotations =
            new HashMap<>(Map.of(Checkpoint.SIGNAL, "SIGUSR1", Checkpoint.GRACE, "2m"));
    private String status = "\"state\": {\"running\": {}}";
    private Map<String, Object> health = Map.of();
    private Map<String, String> unsent = Map.of();
    private Duration most = Duration.ofHours(1);
    private DrainAnnotation drain = Some.full();
    private String mode = "Immediate";

    private PodPlan plan(Instant now) {
        StringBuilder added = new StringBuilder("\"annotations\": {\"a\": \"b\"");
        annotations.forEach((name, text) -> added.append(", \"" + name + "\": \"" + text + "\""));
        PodView pod = Some.read(Some.pod("p")
                .replace("\"labels\"", added + "}, \"labels\"")
                .replace("\"state\": {\"running\": {}}", status));
        List<PodPlan> plan = DrainPlan.of(drain, List.of(pod), Map.of(), Some.policies("*=" + mode), now);
        return new CheckpointSignals(health, unsent, most, Duration.ofSeconds(5))
                .of(drain, plan, now)
                .get(0);
    }

    private void answered(String answer) {
        health = Some.tree("""
            {"spec": {"signals": {"uid-p": {"id": "1", "signal": "SIGUSR1", "requested": "%s"}}},
            "status": {"signals": {%s}}}\
            """.formatted(TOLD, answer));
    }

    private void sent() {
        answered("\"uid-p\": {\"id\": \"1\", \"processes\": 1}");
    }

    private void exited(String where, Instant at) {
        status =
                "\"state\": {\"running\": {}}, \"%s\": {\"terminated\": {\"finishedAt\": \"%s\"}}".formatted(where, at);
    }

    @Test
    void podWithoutSignalRequestIsEvictedImmediately() {
        annotations.remove(Checkpoint.SIGNAL);
        assertThat(plan(NOW).step()).isEqualTo(Step.EVICT);
    }

    @Test
    void podGetsItsSignalAndThenItsGracePeriod() {
        assertThat(plan(NOW).step()).isEqualTo(Step.SIGNAL);
        assertThat(plan(NOW).isDue(NOW)).isTrue();
        assertThat(plan(NOW).reason()).isEqualTo("it gets SIGUSR1 and 2m to save its work");
        answered("");
        assertThat(plan(TOLD).isDue(TOLD)).as("an answer is on its way").isFalse();
        assertThat(plan(TOLD).at()).contains(TOLD.plusSeconds(5));
        assertThat(plan(TOLD.plusSeconds(5)).step()).isEqualTo(Step.CHECKPOINT);
        assertThat(plan(TOLD.plusSeconds(5)).reason()).startsWith("SIGUSR1 is being sent by its node");
        sent();
        assertThat(plan(TOLD).at()).contains(TOLD.plusSeconds(120));
        assertThat(plan(TOLD).began()).isEqualTo(TOLD);
        assertThat(plan(TOLD.plusSeconds(119)).step()).isEqualTo(Step.CHECKPOINT);
        PodPlan over = plan(TOLD.plusSeconds(120));
        assertThat(over.step()).isEqualTo(Step.EVICT);
        assertThat(over.reason()).isEqualTo("SIGUSR1 was sent at " + TOLD + ", and its time to save its work is over");
    }

    @Test
    void podIsEvictedWhenItReportsThatItsWorkIsSaved() {
        sent();
        annotations.put(Checkpoint.SAVED, "2026-11-22T05:59:00Z");
        assertThat(plan(TOLD).step()).as("timestamp before the signal").isEqualTo(Step.CHECKPOINT);
        for (String word : List.of(TOLD.toString(), "true")) {
            annotations.put(Checkpoint.SAVED, word);
            assertThat(plan(TOLD.plusSeconds(1)).step()).isEqualTo(Step.EVICT);
        }
    }

    @Test
    void podIsEvictedWhenItsContainersHaveEndedSinceTheSignal() {
        sent();
        exited("lastState", NOW);
        assertThat(plan(TOLD.plusSeconds(5)).step()).as("before the signal").isEqualTo(Step.CHECKPOINT);
        exited("lastState", TOLD.plusSeconds(3));
        assertThat(plan(TOLD.plusSeconds(5)).step())
                .as("though it was started again")
                .isEqualTo(Step.EVICT);
    }

    @Test
    void podIsEvictedWithoutSignalIfItCannotBeSent() {
        answered("\"uid-p\": {\"id\": \"1\", \"processes\": 0, \"error\": \"signals are off\"}");
        assertThat(plan(TOLD).step()).isEqualTo(Step.EVICT);
        assertThat(plan(TOLD).reason()).isEqualTo("SIGUSR1 was not sent: signals are off");
        health = Map.of();
        unsent = Map.of("uid-p", "no daemon reports");
        assertThat(plan(NOW).step()).isEqualTo(Step.EVICT);
        assertThat(plan(NOW).reason()).isEqualTo("no daemon reports");
    }

    @Test
    void signalOfAnEarlierDrainIsIgnored() {
        sent();
        drain = DrainAnnotation.NONE.with(
                new DrainRequest(true, java.util.Set.of(), false, "Xid"), TOLD.plusSeconds(1));
        assertThat(plan(TOLD.plusSeconds(1)).step()).isEqualTo(Step.SIGNAL);
    }

    @Test
    void gracePeriodIsLimitedToTheLongestNotice() {
        sent();
        annotations.put(Checkpoint.GRACE, "3d");
        assertThat(plan(TOLD).at()).contains(TOLD.plusSeconds(3600));
        annotations.put(Checkpoint.GRACE, "five");
        assertThat(plan(TOLD).at()).contains(TOLD.plusSeconds(300));
        assertThat(plan(TOLD).reason()).endsWith("; gpuwarden.dev/checkpoint-grace is no duration such as 5m: five");
        most = Duration.ZERO;
        assertThat(plan(TOLD).step()).isEqualTo(Step.EVICT);
    }

    @Test
    void forcedDrainSendsNoSignal() {
        drain = DrainAnnotation.NONE.with(new DrainRequest(true, java.util.Set.of(), true, "Xid"), NOW);
        assertThat(plan(NOW).step()).isEqualTo(Step.EVICT);
    }

    @Test
    void signalIsSentBeforeTheDeadlineAndPodMayLeaveEarlier() {
        mode = "DeleteAfterTimeout";
        Instant due = NOW.plusSeconds(3600);
        PodPlan before = plan(NOW);
        assertThat(before.step()).isEqualTo(Step.DELETE);
        assertThat(before.at()).as("next evaluation").contains(due.minusSeconds(120));
        assertThat(plan(due.minusSeconds(120)).step()).isEqualTo(Step.SIGNAL);
        sent();
        annotations.put(Checkpoint.SAVED, "yes");
        assertThat(plan(TOLD).step()).as("its budget still holds").isEqualTo(Step.EVICT);
        assertThat(plan(due).step()).isEqualTo(Step.DELETE);
        annotations.remove(Checkpoint.SAVED);
        assertThat(plan(TOLD).at()).contains(due);
    }

    @Test
    void podThatMayEndByItselfGetsNoSignal() {
        mode = "AllowCompletion";
        assertThat(plan(NOW).step()).isEqualTo(Step.AWAIT);
    }
}
