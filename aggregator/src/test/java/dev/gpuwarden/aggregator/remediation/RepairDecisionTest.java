package dev.gpuwarden.aggregator.remediation;

import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_A;
import static dev.gpuwarden.aggregator.remediation.RepairScene.GPU_B;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import dev.gpuwarden.aggregator.remediation.RepairFacts.DrainStanding;
import dev.gpuwarden.aggregator.remediation.RepairFacts.Policy;
import dev.gpuwarden.core.event.RecommendedAction;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class RepairDecisionTest {

    private static final String RESET_A = "reset-" + GPU_A;
    private static final String RESET_B = "reset-" + GPU_B;

    private final RepairScene scene = new RepairScene();

    /**
     * The four cases of section 4.3. A first action is in progress, or has ended; then a fault requests a second one.
     *
     * @param made groups that get a resource, or `none`
     */
    @ParameterizedTest(name = "{0} {1}, then {2}: {3}")
    @CsvSource({
        // Case 1: RebootNode, then RebootNode.
        "restart, progress, restart, none",
        "restart, succeeded, restart, restart",
        // Case 2: GPUReset, then GPUReset.
        "reset-a, progress, reset-a, none",
        "reset-a, succeeded, reset-a, reset-a",
        "reset-a, progress, reset-b, reset-b",
        "reset-a, succeeded, reset-b, reset-b",
        "reset-a, failed, reset-b, reset-b",
        // Case 3: GPUReset, then RebootNode.
        "reset-a, progress, restart, restart",
        "reset-a, succeeded, restart, restart",
        "reset-a, failed, restart, restart",
        // Case 4: RebootNode, then GPUReset.
        "restart, progress, reset-a, none",
        "restart, succeeded, reset-a, reset-a",
        // Failures: a reset leads to a reboot, a reboot to an operator.
        "reset-a, failed, reset-a, restart",
        "restart, failed, restart, none",
        "restart, failed, reset-a, none",
    })
    void secondActionFollowsTheFourCases(String first, String state, String second, String made) {
        request(first, "first");
        assertThat(scene.act()).hasSize(1);
        MaintenanceKind kind = first.equals("restart") ? MaintenanceKind.REBOOT_NODE : MaintenanceKind.GPU_RESET;
        scene.later(10);
        if (!state.equals("progress")) {
            scene.end(kind, state.equals("succeeded"));
            if (!first.equals(second) || state.equals("succeeded")) {
                scene.faults.clear();
            }
        }
        scene.later(10);
        request(second, "second");
        String expected = made.replace("reset-a", RESET_A).replace("reset-b", RESET_B);
        assertThat(scene.act()).isEqualTo(made.equals("none") ? List.of() : List.of(expected));
    }

    private void request(String group, String check) {
        switch (group) {
            case "restart" -> scene.fault(RecommendedAction.RESTART_BM, check, GPU_A);
            case "reset-a" -> scene.fault(RecommendedAction.COMPONENT_RESET, check, GPU_A);
            default -> scene.fault(RecommendedAction.COMPONENT_RESET, check, GPU_B);
        }
    }

    @ParameterizedTest
    @EnumSource(RecommendedAction.class)
    void onlyResetsAndRestartsMakeResources(RecommendedAction action) {
        scene.fault(action, "Xid", GPU_A);
        List<String> made = scene.act();
        switch (action) {
            case COMPONENT_RESET -> assertThat(made).containsExactly(RESET_A);
            case RESTART_VM, RESTART_BM -> assertThat(made).containsExactly("restart");
            case NONE -> {
                assertThat(made).isEmpty();
                assertThat(scene.decide().kind()).isEqualTo(Kind.NONE);
            }
            default -> {
                assertThat(made).isEmpty();
                RepairDecision decision = scene.decide();
                assertThat(decision.kind()).isEqualTo(Kind.PERSON);
                assertThat(decision.why()).startsWith("Xid 48: ").hasSizeGreaterThan("Xid 48: ".length());
                assertThat(decision.record().person()).isPresent();
            }
        }
    }

    @ParameterizedTest(name = "reset of {0}: {1}")
    @CsvSource(
            delimiter = '|',
            value = {
                "''| the fault names no GPU",
                "GPU-aaaaaaaa-2051-db6c-0430-ffc457bff834 GPU-bbbbbbbb-2051-db6c-0430-ffc457bff834| its 2 GPUs by hand",
                "MIG-aaaaaaaa-2051-db6c-0430-ffc457bff834| no UUID of a whole GPU",
                "GPU-1| no UUID of a whole GPU",
            })
    void resetNeedsExactlyOneGpu(String gpus, String why) {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", gpus.isEmpty() ? new String[0] : gpus.split(" "));
        assertThat(scene.decide().why()).contains(why);
        assertThat(scene.act()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {GPU_A, GPU_B, GPU_A + " " + GPU_B})
    void gpusThatCanOnlyBeResetTogetherAreOneReset(String atFault) {
        scene.gpus = TestGpus.units(List.of(GPU_A, GPU_B));
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", atFault.split(" "))
                .fault(RecommendedAction.COMPONENT_RESET, "Ecc", GPU_B);
        scene.drain = new RepairFacts.DrainStanding(true, false, Set.of(GPU_B));
        assertThat(scene.decide().why()).contains("waits for the drain");
        scene.drain = new RepairFacts.DrainStanding(true, false, Set.of(GPU_A, GPU_B));
        assertThat(scene.act()).containsExactly(RESET_A + "+" + GPU_B);
    }

    @Test
    void gpusOfSeveralUnitsAreLeftToAnOperator() {
        scene.gpus = TestGpus.units(List.of(GPU_A), List.of(GPU_B));
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A, GPU_B);
        assertThat(scene.decide().why()).contains("its 2 GPUs by hand");
        assertThat(scene.act()).isEmpty();
    }

    @Test
    void aGpuWhoseUnitMayBeMissingInACutListIsLeftToAnOperator() {
        scene.gpus = TestGpus.cut(TestGpus.units(List.of(GPU_A)));
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_B);
        assertThat(scene.decide().why()).contains(GPU_B, "status.unlistedGpuCount", "gpuwarden gpu-reset");
        assertThat(scene.act()).isEmpty();
        scene.fault(RecommendedAction.COMPONENT_RESET, "Ecc", GPU_A);
        assertThat(scene.act()).as("a listed one").containsExactly(RESET_A);
    }

    @Test
    void skippedDrainLeavesTheActionToAnOperator() {
        scene.fault(RepairScene.skipping(RecommendedAction.COMPONENT_RESET, GPU_A));
        assertThat(scene.decide().why())
                .isEqualTo("Xid: reset its GPU by hand: the event skips the drain, so pods may still run");
    }

    @Test
    void restartSupersedesResetsThatHaveNotBegun() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A).fault(RecommendedAction.RESTART_VM, "Bus", GPU_B);
        assertThat(scene.act()).containsExactly("restart");
        assertThat(scene.act()).isEmpty();
        scene.later(30).end(MaintenanceKind.REBOOT_NODE, true);
        assertThat(scene.act()).as("the node has time to report").isEmpty();
    }

    @Test
    void twoResetsOfOneNodeGetOneResourceEach() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A)
                .fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_B)
                .fault(RecommendedAction.COMPONENT_RESET, "Ecc", GPU_A);
        assertThat(scene.act()).containsExactlyInAnyOrder(RESET_A, RESET_B);
        assertThat(scene.act()).isEmpty();
    }

    @Test
    void repairThatDoesNotHelpIsRepeatedThenEscalated() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.act()).containsExactly(RESET_A);
        for (String next : List.of(RESET_A, "restart", "restart")) {
            scene.later(10).end(MaintenanceKind.GPU_RESET, true);
            scene.end(MaintenanceKind.REBOOT_NODE, true);
            RepairDecision wait = scene.later(299).decide();
            assertThat(wait.kind()).isEqualTo(Kind.WAIT);
            assertThat(wait.again()).contains(scene.now.plusSeconds(1));
            assertThat(scene.later(1).act()).containsExactly(next);
        }
        scene.later(10).end(MaintenanceKind.REBOOT_NODE, true);
        RepairDecision end = scene.later(300).decide();
        assertThat(end.kind()).isEqualTo(Kind.PERSON);
        assertThat(end.why())
                .isEqualTo(
                        "Xid 48: repair or replace " + GPU_A + ": the node was rebooted 2 times for it within 168 h");
        assertThat(scene.resources.stream().map(MaintenanceResource::name)).doesNotHaveDuplicates();
    }

    @Test
    void earlierQuarantinesCountForTheSameGpu() {
        for (int i = 0; i < 2; i++) {
            scene.fault(RecommendedAction.RESTART_BM, "Xid", GPU_A);
            assertThat(scene.act()).containsExactly("restart");
            scene.later(10).end(MaintenanceKind.REBOOT_NODE, true);
            scene.decide();
            release();
        }
        scene.fault(RecommendedAction.RESTART_BM, "Xid", GPU_A);
        assertThat(scene.decide().kind()).isEqualTo(Kind.PERSON);
        scene.faults.clear();
        scene.fault(RecommendedAction.RESTART_BM, "Xid", GPU_B);
        assertThat(scene.act()).as("another GPU").containsExactly("restart");
        scene.later(10).end(MaintenanceKind.REBOOT_NODE, true);
        scene.decide();
        release();
        scene.later(7 * 24 * 3600).fault(RecommendedAction.RESTART_BM, "Xid", GPU_A);
        assertThat(scene.act()).as("after a week").containsExactly("restart");
    }

    private void release() {
        scene.faults.clear();
        scene.record = new RepairRecord(
                scene.record.history(), Set.of(), Set.of(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    @Test
    void drainMustCoverTheAction() {
        scene.drain = new DrainStanding(false, false, Set.of(GPU_A));
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.decide().kind()).isEqualTo(Kind.WAIT);
        scene.drain = new DrainStanding(true, false, Set.of(GPU_B));
        assertThat(scene.decide().kind()).as("another GPU is drained").isEqualTo(Kind.WAIT);
        scene.drain = new DrainStanding(true, false, Set.of(GPU_A));
        assertThat(scene.act()).containsExactly(RESET_A);
        scene.later(10).end(MaintenanceKind.GPU_RESET, false);
        RepairDecision drain = scene.decide();
        assertThat(drain.kind()).isEqualTo(Kind.DRAIN);
        assertThat(drain.record().drain()).contains("reset of " + GPU_A + " failed: the GPU is in use");
        scene.drain = new DrainStanding(false, true, Set.of(GPU_A));
        assertThat(scene.decide().kind()).isEqualTo(Kind.WAIT);
        scene.drain = new DrainStanding(true, true, Set.of(GPU_A));
        assertThat(scene.act()).containsExactly("restart");
        scene.later(10).end(MaintenanceKind.REBOOT_NODE, false);
        assertThat(scene.decide().why()).contains("repair the node by hand: the reboot (maintenance-n-", ") failed: ");
    }

    @Test
    void approvalIsForOneAttempt() {
        scene.policy = new Policy(true, true, 2, Policy.DEFAULT.memory(), Policy.DEFAULT.settle());
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        RepairDecision stop = scene.decide();
        assertThat(stop.kind()).isEqualTo(Kind.APPROVAL);
        scene.approved = stop.record().next().orElseThrow().resource();
        assertThat(scene.act()).containsExactly(RESET_A);
        scene.later(10).end(MaintenanceKind.GPU_RESET, false);
        assertThat(scene.decide().kind()).as("the reboot is another action").isEqualTo(Kind.APPROVAL);
        assertThat(scene.record.next().orElseThrow().group().name()).isEqualTo("restart");
    }

    @Test
    void resourcesMadeByHandCountToo() {
        scene.byHand(MaintenanceKind.GPU_RESET, "all");
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.decide().why()).contains("GPUReset all is in progress");
        scene.end(MaintenanceKind.GPU_RESET, true);
        scene.byHand(MaintenanceKind.TERMINATE_NODE, "end");
        assertThat(scene.decide().why()).contains("TerminateNode end is in progress");
    }

    @Test
    void obstacleStopsAllActionsAndResultsAreStillRecorded() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.act()).hasSize(1);
        scene.obstacle = Optional.of(RepairObstacle.of("the breaker is open"));
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_B);
        assertThat(scene.act()).isEmpty();
        scene.later(10).end(MaintenanceKind.GPU_RESET, true);
        RepairDecision blocked = scene.decide();
        assertThat(blocked.kind()).isEqualTo(Kind.BLOCKED);
        assertThat(blocked.why()).isEqualTo("the breaker is open");
        assertThat(outcomes()).containsExactly(Optional.of(Outcome.SUCCEEDED));
        scene.resources.clear();
        scene.obstacle = Optional.empty();
        assertThat(scene.later(300).act())
                .as("a success that was removed later is no deletion")
                .containsExactly(RESET_A, RESET_B);
    }

    @Test
    void recordOfAnotherProgramIsNotWritten() {
        scene.fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU_A);
        assertThat(scene.act()).hasSize(1);
        RepairRecord before = scene.record;
        scene.later(10).end(MaintenanceKind.GPU_RESET, true);
        scene.obstacle = Optional.of(new RepairObstacle("another program repairs it", true));
        assertThat(scene.decide().kind()).isEqualTo(Kind.BLOCKED);
        assertThat(scene.record).isEqualTo(before);
    }

    private List<Optional<Outcome>> outcomes() {
        return scene.record.history().stream()
                .map(repair -> repair.result().map(Repair.Result::outcome))
                .toList();
    }
}
