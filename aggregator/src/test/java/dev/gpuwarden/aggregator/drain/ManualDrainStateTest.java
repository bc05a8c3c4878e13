package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static dev.gpuwarden.aggregator.drain.Some.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainState.Refusal;
import dev.gpuwarden.aggregator.drain.ManualDrainState.ManualPod.State;
import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests of the progress from one evaluation of a node's pods to the next. */
class ManualDrainStateTest {

    private DrainPolicies policies = policies(Duration.ZERO);
    private Map<String, Object> health = Map.of();

    private ManualDrainState last = ManualDrainState.NONE;
    private Instant now = NOW;
    private DrainAnnotation drain = Some.full();
    private Map<String, Set<String>> holders = Map.of();
    private Map<String, Refusal> refusals = Map.of();

    private static DrainPolicies policies(Duration notice) {
        DrainPolicies usual = Some.policies("*=Immediate");
        return new DrainPolicies(
                usual.pods(),
                usual.namespaces(),
                usual.system(),
                usual.grace(),
                usual.timeout(),
                usual.notReady(),
                notice,
                false,
                false);
    }

    private ManualDrainState evaluate(String... pods) {
        List<PodView> read = Stream.of(pods).map(Some::read).toList();
        List<PodPlan> plan = new CheckpointSignals(health, Map.of(), policies.notice(), Duration.ofSeconds(5))
                .of(drain, DrainPlan.of(drain, read, holders, policies, now), now);
        last = ManualDrainState.of(last, plan, refusals, policies, NOW, now);
        return last;
    }

    private ManualDrainState.ManualPod only() {
        assertThat(last.pods()).hasSize(1);
        return last.pods().get(0);
    }

    private void after(long seconds) {
        now = NOW.plusSeconds(seconds);
    }

    private static String ending(String name, String meta) {
        return pod(name)
                .replace("\"labels\"", "\"deletionTimestamp\": \"2026-11-22T06:01:00Z\"" + meta + ", \"labels\"");
    }

    private static String unmanaged(String name) {
        return pod(name).replace("\"controller\": true", "\"controller\": false");
    }

    @Test
    void podIsEvictedThenEndsThenIsGone() {
        assertThat(evaluate(pod("a")).due()).hasSize(1);
        assertThat(only().state()).isEqualTo(State.EVICT);
        assertThat(last.over()).isFalse();

        after(3);
        assertThat(evaluate(ending("a", "")).due()).isEmpty();
        assertThat(only())
                .isEqualTo(new ManualDrainState.ManualPod(
                        "team/a", "uid-a", State.GOING, "it has until 2026-11-22T06:01:00Z", now, NOW));
        assertThat(last.next()).as("when it should have ended").contains(Instant.parse("2026-11-22T06:01:10Z"));

        after(5);
        evaluate();
        assertThat(only()).isEqualTo(new ManualDrainState.ManualPod("team/a", "uid-a", State.GONE, "", now, NOW));
        assertThat(last.drained()).isTrue();
        after(9);
        evaluate();
        assertThat(only().since()).isEqualTo(NOW.plusSeconds(5));
    }

    @Test
    void podEndsWithItsContainersAndPodThatHadEndedIsLeft() {
        evaluate(pod("a"));
        evaluate(pod("a").replace("Running\"", "Succeeded\""));
        assertThat(only().state()).isEqualTo(State.GONE);
        last = ManualDrainState.NONE;
        evaluate(pod("a").replace("Running\"", "Succeeded\""));
        assertThat(only().state()).isEqualTo(State.LEFT);
        evaluate();
        assertThat(last.pods()).isEmpty();
    }

    @Test
    void refusedPodIsRetriedAndKeepsTheStartOfTheRefusal() {
        evaluate(pod("a"));
        after(1);
        refusals = Map.of(
                "uid-a", Refusal.before(now, "").again("the budget web", Duration.ofSeconds(5), Duration.ZERO, now));
        evaluate(pod("a"));
        after(4);
        assertThat(evaluate(pod("a")).due()).hasSize(1);
        assertThat(only())
                .isEqualTo(new ManualDrainState.ManualPod(
                        "team/a", "uid-a", State.REFUSED, "the budget web", NOW.plusSeconds(1), NOW));
        assertThat(last.next()).contains(NOW.plusSeconds(6));
        assertThat(last.over()).isFalse();
    }

    @Test
    void missingRightIsNotRetried() {
        String answer =
                "pods \"a\" is forbidden: User \"me\" cannot create resource \"pods/eviction\" in API group \"\"";
        refusals = Map.of("uid-a", Refusal.before(now, "").again(answer, Duration.ofSeconds(5), Duration.ZERO, now));
        assertThat(evaluate(pod("a")).due()).isEmpty();
        assertThat(only().state()).isEqualTo(State.STAYS);
        assertThat(only().why()).isEqualTo(answer);
        assertThat(last.over()).isTrue();
        assertThat(last.drained()).isFalse();
    }

    @Test
    void allReasonsThatKeepAPodAreReportedTogether() {
        evaluate(unmanaged("a").replace("\"containers\"", "\"volumes\": [{\"emptyDir\": {}}], \"containers\""));
        assertThat(only().state()).isEqualTo(State.STAYS);
        assertThat(only().why())
                .isEqualTo("its emptyDir would be lost (--delete-emptydir-data), and no controller would start it"
                        + " again (--force)");
        evaluate();
        assertThat(only().state()).as("an operator has removed it").isEqualTo(State.GONE);
    }

    @Test
    void podThatComesLongAfterTheCordonIsNotEvicted() {
        after(9);
        evaluate(pod("a"));
        assertThat(only().state()).isEqualTo(State.EVICT);
        after(20);
        evaluate(pod("a"), pod("b"));
        assertThat(last.pods()).extracting(ManualDrainState.ManualPod::state).containsExactly(State.EVICT, State.STAYS);
        assertThat(last.due()).extracting(plan -> plan.pod().name()).containsExactly("a");
        assertThat(last.pods().get(1).why()).startsWith("it came after the cordon");
    }

    @Test
    void holderThatMayNotBeEvictedIsInTheWayOfItsGpu() {
        drain = Some.partial("GPU-1");
        holders = Map.of("team/a", Set.of("GPU-1"), "team/b", Set.of("GPU-1"));
        evaluate(pod("a").replace("ReplicaSet", "DaemonSet"), pod("b"), pod("c"));
        assertThat(last.pods())
                .extracting(ManualDrainState.ManualPod::state)
                .containsExactly(State.STAYS, State.EVICT, State.LEFT);
        assertThat(last.pods().get(0).why()).startsWith("it holds a GPU, and its DaemonSet");
    }

    @Test
    void overduePodIsReportedWithItsFinalizers() {
        after(80);
        evaluate(ending("a", ", \"finalizers\": [\"example.com/hold\"]"));
        assertThat(only().why())
                .isEqualTo("it should have ended by 2026-11-22T06:01:00Z; finalizers hold it: example.com/hold");
        assertThat(last.next()).isEmpty();
    }

    @Test
    void podThatCanSaveItsWorkGetsItsSignalFirstIfRequested() {
        String pod = pod("a").replace(
                        "\"labels\"",
                        "\"annotations\": {\"gpuwarden.dev/checkpoint-signal\": \"SIGUSR1\"}, \"labels\"");
        evaluate(pod);
        assertThat(only().state()).isEqualTo(State.EVICT);
        assertThat(only().why()).isEqualTo("it could save its work on SIGUSR1 (--notice)");

        policies = policies(Duration.ofMinutes(2));
        last = ManualDrainState.NONE;
        assertThat(evaluate(pod).due()).extracting(PodPlan::step).containsExactly(PodPlan.Step.SIGNAL);
        assertThat(only().state()).isEqualTo(State.SAVES);
        assertThat(only().why()).isEqualTo("it gets SIGUSR1 and 2m to save its work");

        health = Some.tree("""
            {"spec": {"signals": {"uid-a": {"id": "i", "signal": "SIGUSR1", "requested": "%s"}}}}
            """.formatted(NOW));
        assertThat(evaluate(pod).due()).isEmpty();
        assertThat(last.over()).isFalse();
        assertThat(last.next()).as("its node must answer by then").contains(NOW.plusSeconds(5));
        assertThat(only().state()).isEqualTo(State.SAVES);

        after(5);
        assertThat(evaluate(pod).due()).isEmpty();
        assertThat(last.next()).contains(NOW.plus(Duration.ofMinutes(2)));

        after(121);
        assertThat(evaluate(pod).due()).extracting(PodPlan::step).containsExactly(PodPlan.Step.EVICT);
        assertThat(only().state()).isEqualTo(State.EVICT);
        assertThat(only().why()).endsWith("its time to save its work is over");
    }
}
