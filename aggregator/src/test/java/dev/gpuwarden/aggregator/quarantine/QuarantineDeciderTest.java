package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode.Taint;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Decisions from faults and rules. */
class QuarantineDeciderTest extends QuarantineSetup {

    @Test
    void fatalFaultCordonsInOnePatchWithItsReasonAndItsEndReturnsTheNode() {
        report(xid("79"));
        Decision.Act act = act(Decision.Kind.QUARANTINE);
        assertThat(act.audit().breaker()).isEqualTo("room");
        assertThat(act.patch().get(0))
                .containsEntry("op", "test")
                .containsEntry("path", "/metadata/resourceVersion")
                .containsEntry("value", before.resourceVersion());
        assertThat(node.read().unschedulable()).isTrue();
        assertThat(node.annotation("quarantineHealthEventIsCordoned")).isEqualTo("True");
        assertThat(node.annotation("quarantineHealthEvent"))
                .isEqualTo("[{\"version\":1,\"agent\":\"syslog-health-monitor\",\"componentClass\":\"GPU\","
                        + "\"checkName\":\"SysLogsXIDError\",\"isFatal\":true,\"message\":\"fallen off the bus\","
                        + "\"recommendedAction\":24,\"errorCode\":[\"79\"],\"entitiesImpacted\":["
                        + "{\"entityType\":\"PCI\",\"entityValue\":\"0000:3b:00\"},"
                        + "{\"entityType\":\"NVLINK\",\"entityValue\":\"3\"}],"
                        + "\"generatedTimestamp\":{\"seconds\":0,\"nanos\":0},\"nodeName\":\"node-1\","
                        + "\"processingStrategy\":1,\"id\":\"e-1\"}]");
        assertThat(node.annotation("gpuwarden.dev/quarantine-reason"))
                .as("one event is one reason")
                .startsWith("SysLogsXIDError 79 on PCI 0000:3b:00 since 2026-11-22T03:00:00Z: fallen off the bus"
                        + " (restart-bm). Rules: fatal. ");
        assertThat(Json.write(act.audit().toTree()))
                .contains("\"decision\":\"quarantine\"", "\"breaker\":\"room\"", "\"rules\":[\"fatal\"]");

        mend(xid("79").entities(List.of(new Entity("PCI", "0000:3b:00"))));
        act(Decision.Kind.CHANGE);
        assertThat(node.annotation("quarantineHealthEvent"))
                .doesNotContain("3b:00")
                .contains("NVLINK");
        mend(xid().entities(List.of()));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void rulesThatMatchLaterFaultsAreAppliedToo() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        report(event("Taints", "GPU"));
        report(event("Labels", "GPU"));
        Decision.Act act = act(Decision.Kind.CHANGE);
        assertThat(act.audit().breaker())
                .as("the node is out of service already")
                .isEmpty();
        assertThat(node.read().has(GPU_ERROR)).isTrue();
        assertThat(node.read().labels()).containsEntry("gpu-fault", "active");
        assertThat(node.annotation("quarantineHealthEventAppliedTaints"))
                .isEqualTo("[{\"key\":\"nvidia.com/gpu-error\",\"value\":\"true\",\"effect\":\"NoSchedule\","
                        + "\"preExisting\":false,\"priority\":5}]");
        mend(event("Taints", "GPU"));
        mend(event("Labels", "GPU"));
        act(Decision.Kind.CHANGE);
        mend(xid().entities(List.of()));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void higherPriorityKeepsALabelForTheWholeQuarantine() {
        report(event("Worse", "GPU"));
        act(Decision.Kind.QUARANTINE);
        report(event("Labels", "GPU"));
        mend(event("Worse", "GPU"));
        act(Decision.Kind.CHANGE);
        assertThat(node.read().labels()).containsEntry("gpu-fault", "worse");
        mend(event("Labels", "GPU"));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void higherPriorityWinsBetweenTwoEffectsOfOneTaint() {
        Taint harder = new Taint(GPU_ERROR.key(), GPU_ERROR.value(), "NoExecute");
        rules = RuleEvaluator.compile(List.of(
                rule("a", "event.checkName == 'Taints'", 1, false, GPU_ERROR, null),
                rule("b", "event.checkName == 'Harder'", 2, false, harder, null)));
        report(event("Taints", "GPU"));
        act(Decision.Kind.QUARANTINE);
        report(event("Harder", "GPU"));
        act(Decision.Kind.CHANGE);
        assertThat(node.read().has(harder)).isTrue();
        assertThat(node.read().has(GPU_ERROR)).isFalse();
    }

    @Test
    void deletedRulesReturnNoFaultyNode() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        rules = RuleEvaluator.EMPTY;
        act(Decision.Kind.CHANGE);
        assertThat(node.read().unschedulable()).isTrue();
        mend(xid("79"));
        act(Decision.Kind.RETURN);
        isAsBefore();
    }

    @Test
    void anotherActionForTheSameFaultReachesTheNode() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        report(xid("79").action(RecommendedAction.REPLACE_VM));
        act(Decision.Kind.CHANGE);
        assertThat(node.annotation("quarantineHealthEvent")).contains("\"recommendedAction\":25");
    }

    @Test
    void nodeWhoseServicesAreStoppedForAResetStays() {
        report(xid("79"));
        act(Decision.Kind.QUARANTINE);
        node.texts("labels").put("nvidia.com/gpu.deploy.device-plugin", "paused-for-gpu-reset");
        mend(xid("79"));
        nothing("stays in quarantine: its services are stopped for a reset (label"
                + " nvidia.com/gpu.deploy.device-plugin=paused-for-gpu-reset)");
        node.texts("labels").put("nvidia.com/gpu.deploy.device-plugin", "true");
        act(Decision.Kind.RETURN);
    }

    @Test
    void sendersCanForceAndSkipQuarantine() {
        report(event("Harmless", "GPU").quarantine(new Overrides(true, false)));
        assertThat(decide(NO)).as("it passes the rules, not the breaker").isInstanceOf(Decision.Leave.class);
        Decision decision = new QuarantineDecider(
                        node.read(),
                        FaultReport.trusted("node-1", table.faults()),
                        rules,
                        any -> NO,
                        true,
                        ActionMode.ARMED,
                        T0)
                .decide();
        assertThat(decision).as("the breaker is not asked").isInstanceOf(Decision.Act.class);
        act(Decision.Kind.QUARANTINE);
        assertThat(node.read().unschedulable()).isTrue();
        report(event("Harmless", "GPU").quarantine(new Overrides(true, true)));
        act(Decision.Kind.RETURN);
        report(xid("79").quarantine(new Overrides(false, true)));
        nothing("no fault");
    }

    @Test
    void openBreakerRefusesQuarantinesAndPermitsReturns() {
        report(xid("79"));
        assertThat(decide(NO)).isEqualTo(new Decision.Leave("breaker open", true, Optional.of(List.of())));
        act(Decision.Kind.QUARANTINE);
        report(xid("94"));
        assertThat(decide(NO)).as("it is out of service already").isInstanceOf(Decision.Act.class);
        mend(xid("79", "94"));
        assertThat(decide(NO))
                .isInstanceOfSatisfying(
                        Decision.Act.class, act -> assertThat(act.kind()).isEqualTo(Decision.Kind.RETURN));
    }

    @Test
    void labelsAloneNeedNoBreaker() {
        report(event("Labels", "GPU"));
        assertThat(decide(NO)).isInstanceOf(Decision.Act.class);
    }

    @Test
    void aDryRunDecidesAndWritesNothing() {
        report(xid("79"));
        Decision dry = QuarantineDecider.decide(
                node.read(), FaultReport.trusted("node-1", table.faults()), rules, any -> YES, ActionMode.DRY_RUN, T0);
        assertThat(dry).isInstanceOfSatisfying(Decision.Act.class, act -> {
            assertThat(act.writes()).isFalse();
            assertThat(Json.write(act.audit().toTree())).contains("\"mode\":\"dry_run\"");
        });
        assertThat(((Decision.Act) decide(YES)).writes()).isTrue();
    }

    @Test
    void manyFaultsFitAndTheNodeReturnsAfterAllEnd() {
        for (int check = 0; check < 40; check++) {
            report(event("Check" + check, "GPU")
                    .fatal(true)
                    .message("m".repeat(3000))
                    .entities(IntStream.range(0, 50)
                            .mapToObj(i -> new Entity("NVLINK", Integer.toString(i)))
                            .toList()));
        }
        act(Decision.Kind.QUARANTINE);
        assertThat(node.annotation("quarantineHealthEvent").length()).isLessThanOrEqualTo(HealthEventJson.LONGEST);
        node.spec().remove("unschedulable");
        act(Decision.Kind.CANCEL);
        assertThat(node.annotation("gpuwarden.dev/quarantine-cancelled").length())
                .isLessThan(32 * 1024);
        for (int check = 0; check < 40; check++) {
            mend(event("Check" + check, "GPU"));
        }
        nothing("no fault");
    }
}
