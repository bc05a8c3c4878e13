package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Cordons, taints, labels and opt-outs of other writers, which the quarantine keeps. */
class QuarantineDeciderOthersTest extends QuarantineSetup {

    @Test
    void cordonOfAnAdministratorSurvives() {
        node.spec().put("unschedulable", true);
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEventCordonPreExisting")).isEqualTo("True");
        mend(xid().entities(List.of()));
        assertThat(act(Decision.Kind.RETURN).reason()).contains("stays cordoned");
        assertThat(node.read().unschedulable()).isTrue();
    }

    @Test
    void taintsAndLabelsOfOthersSurvive() {
        node.spec()
                .put(
                        "taints",
                        new ArrayList<>(List.of(
                                Map.of("key", GPU_ERROR.key(), "value", "true", "effect", "NoSchedule"),
                                Map.of("key", "other", "effect", "NoSchedule"))));
        node.texts("labels").put("gpu-fault", "theirs");
        CachedNode was = node.read();
        report(event("Taints", "GPU"));
        report(event("Labels", "GPU"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.read().labels()).containsEntry("gpu-fault", "active");
        mend(event("Taints", "GPU"));
        mend(event("Labels", "GPU"));
        act(Decision.Kind.RETURN);
        assertThat(node.read().taints()).isEqualTo(was.taints());
        assertThat(node.read().labels()).isEqualTo(was.labels());
    }

    @Test
    void taintOfAnotherWriterIsNotReplacedAndTheReasonNamesIt() {
        node.spec().put("taints", List.of(Map.of("key", GPU_ERROR.key(), "value", "theirs", "effect", "NoSchedule")));
        report(event("Taints", "GPU"));
        nothing("conflicts with a taint of another writer");
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        assertThat(node.read().taints()).hasSize(1);
        assertThat(node.annotation("gpuwarden.dev/quarantine-reason"))
                .contains("Left out, since others have these with another value: nvidia.com/gpu-error=true:NoSchedule");
    }

    @ParameterizedTest
    @ValueSource(strings = {"nvsentinel.dgxc.nvidia.com/managed", "k8saas.nvidia.com/ManagedByNVSentinel"})
    void nodeThatOptsOutStaysUnchanged(String label) {
        node.texts("labels").put(label, "false");
        report(xid("79").quarantine(new Overrides(true, false)));
        nothing(label);
        node.texts("labels").remove(label);
        act(Decision.Kind.QUARANTINE);
        node.texts("labels").put(label, "false");
        mend(xid("79"));
        nothing(label);
        node.texts("labels").put(label, "true");
        act(Decision.Kind.RETURN);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[1]", "[{}]", "7"})
    void unreadableAnnotationsOfAnotherWriterStopTheDecision(String text) {
        node.texts("annotations").put("quarantineHealthEvent", text);
        report(xid("79"));
        nothing("annotations quarantineHealthEvent* cannot be read");
    }

    @Test
    void quarantineByNvsentinelIsTakenOver() {
        node.texts("annotations").put("quarantineHealthEvent", """
                {"NodeName":"node-1","CheckName":"SysLogsXIDError","Agent":"syslog-health-monitor","Version":1,
                 "ComponentClass":"GPU","EntitiesImpacted":[{"EntityType":"PCI","EntityValue":"0000:3b:00"}],"ErrorCode":["79"]}""");
        node.texts("annotations")
                .put(
                        "quarantineHealthEventAppliedTaints",
                        "[{\"Key\":\"nvidia.com/gpu-error\",\"Value\":\"true\",\"Effect\":\"NoSchedule\"}]");
        node.texts("annotations").put("quarantineHealthEventIsCordoned", "True");
        node.spec().put("unschedulable", true);
        node.spec().put("taints", List.of(Map.of("key", GPU_ERROR.key(), "value", "true", "effect", "NoSchedule")));
        rules = RuleEvaluator.EMPTY;
        report(xid("79"));
        act(Decision.Kind.CHANGE);
        mend(xid("79"));
        act(Decision.Kind.RETURN);
        assertThat(node.read().unschedulable()).isFalse();
        assertThat(node.read().taints()).isEmpty();
    }

    /**
     * Random sequences of changes: fields of other writers survive, a second decision is empty, and the end equals the start.
     */
    @Test
    void randomChangesKeepFieldsOfOtherWritersAndTheEndEqualsTheStart() {
        Random random = new Random(11);
        String[] checks = {"SysLogsXIDError", "Taints", "Labels", "Worse"};
        for (int step = 0; step < 3000; step++) {
            String check = checks[random.nextInt(checks.length)];
            HealthEvent.Builder event = event(check, "GPU")
                    .errorCodes(List.of(Integer.toString(random.nextInt(3))))
                    .entities(List.of(new Entity("GPU", Integer.toString(random.nextInt(3)))));
            if (random.nextBoolean()) {
                report(event.fatal(true));
            } else {
                mend(event);
            }
            if (random.nextInt(10) == 0) {
                node.texts("labels").put("of-others", Integer.toString(step));
                node.changed();
            }
            if (random.nextInt(20) == 0) {
                node.spec().remove("unschedulable");
            }
            if (decide(random.nextInt(5) == 0 ? NO : YES) instanceof Decision.Act act) {
                node.apply(act.patch());
                if (act.kind() == Decision.Kind.CANCEL && decide(YES) instanceof Decision.Act news) {
                    node.apply(news.patch());
                }
                assertThat(decide(YES)).isInstanceOf(Decision.Leave.class);
            }
            assertThat(node.read().taints()).contains(before.taints().get(0));
            boolean held = node.annotation("quarantineHealthEvent") != null;
            assertThat(held || !node.read().unschedulable()).isTrue();
        }
        for (String check : checks) {
            mend(event(check, "GPU"));
        }
        if (decide(YES) instanceof Decision.Act act) {
            node.apply(act.patch());
        }
        nothing("no fault");
        node.texts("labels").remove("of-others");
        node.texts("annotations").remove("quarantinedNodeUncordonedManually");
        node.texts("annotations").remove("gpuwarden.dev/quarantine-cancelled");
        isAsBefore();
    }
}
