package dev.gpuwarden.aggregator.remediation;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeAnnotations;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.remediation.RepairRehearsal.Result;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.HealthEventFields;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.PartNames;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RepairRehearsalTest {

    private static final String GPU = RepairScene.GPU_A;
    private final RepairScene scene = new RepairScene().fault(RecommendedAction.COMPONENT_RESET, "Xid", GPU);
    private final Map<String, String> annotations = new HashMap<>();
    private final Map<String, String> labels = new HashMap<>();

    private RepairRehearsal rehearse(boolean manual, List<Map<String, Object>> resets) throws Exception {
        annotations.put(
                NodeAnnotations.EVENTS,
                Json.write(List.of(HealthEventFields.of(scene.faults.get(0).cause()))));
        annotations.putIfAbsent(
                NodeAnnotations.DRAIN,
                "{\"gpus\": {\"%s\": \"%s\"}, \"finished\": \"%s\"}".formatted(GPU, RepairScene.NOW, RepairScene.NOW));
        CachedNode node = CachedNode.of(Map.of(
                "metadata",
                Map.of("name", "n", "uid", "u", "labels", labels, "annotations", annotations),
                "spec",
                Map.of("unschedulable", true)));
        return RepairRehearsal.of(
                node,
                new FaultReport(
                        "n",
                        "u",
                        FaultReport.Standing.TRUSTED,
                        "",
                        scene.faults,
                        Set.of(),
                        PartNames.NONE,
                        0,
                        TestGpus.ofUnknownUnits(GPU)),
                Map.of(MaintenanceKind.GPU_RESET, resets),
                Optional.empty(),
                new RepairReconciler.Settings(
                        false, manual, 2, Duration.ofDays(7), Duration.ofMinutes(5), RepairTemplates.NONE, "gpuwarden"),
                RepairScene.NOW);
    }

    @Test
    void resourceIsMadeAlsoIfThisAggregatorMakesADryRun() throws Exception {
        RepairRehearsal repair = rehearse(false, List.of());
        assertThat(repair.result()).isEqualTo(Result.ACTS);
        assertThat(repair.requests()).singleElement().satisfies(request -> {
            assertThat(request.kind()).isEqualTo(MaintenanceKind.GPU_RESET);
            assertThat(request.body().toString()).contains("uuids=[" + GPU + "]", "nodeName=n");
        });
    }

    @Test
    void approvalIsAwaitedAndTheResourceIsKnown() throws Exception {
        RepairRehearsal repair = rehearse(true, List.of());
        assertThat(repair.result()).isEqualTo(Result.APPROVAL);
        assertThat(repair.why()).contains("waits for gpuwarden approve n");
        assertThat(repair.requests()).hasSize(1);
    }

    @Test
    void earlierAttemptsEscalateToARebootAfterADrainOfAllPods() throws Exception {
        Repair earlier = new Repair(
                "r",
                RepairGroup.reset(List.of(GPU)),
                "COMPONENT_RESET",
                "f",
                "Xid 48",
                Set.of(GPU),
                RepairScene.NOW.minusSeconds(3600),
                Optional.empty(),
                "");
        annotations.put(NodeAnnotations.REPAIRS, Json.write(List.of(earlier.tree(), earlier.tree())));
        RepairRehearsal repair = rehearse(false, List.of());
        assertThat(repair.result()).isEqualTo(Result.DRAIN);
        assertThat(repair.requests()).isEmpty();

        annotations.put(
                NodeAnnotations.DRAIN,
                "{\"full\": \"%s\", \"finished\": \"%s\"}".formatted(RepairScene.NOW, RepairScene.NOW));
        assertThat(rehearse(false, List.of()).requests())
                .singleElement()
                .satisfies(request -> assertThat(request.kind()).isEqualTo(MaintenanceKind.REBOOT_NODE));
    }

    @Test
    void upgradeOfTheDriverBlocks() throws Exception {
        labels.put("nvidia.com/gpu-driver-upgrade-state", "drain-required");
        RepairRehearsal repair = rehearse(false, List.of());
        assertThat(repair.result()).isEqualTo(Result.BLOCKED);
        assertThat(repair.why()).endsWith("seen drain-required");
        labels.put("nvidia.com/gpu-driver-upgrade-state", "upgrade-required");
        assertThat(rehearse(false, List.of()).result()).isEqualTo(Result.ACTS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void resourceOfAnotherJanitorBlocksItsOwnNode(boolean own) throws Exception {
        RepairRehearsal repair = rehearse(
                false,
                List.of(Map.of(
                        "metadata",
                        Map.of("name", "x", "finalizers", List.of("janitor.dgxc.nvidia.com/finalizer")),
                        "spec",
                        Map.of("nodeName", own ? "n" : "other"))));
        if (own) {
            assertThat(repair.result()).isEqualTo(Result.BLOCKED);
            assertThat(repair.why()).contains("another janitor works on this node");
        } else {
            assertThat(repair.result()).isNotEqualTo(Result.BLOCKED);
        }
    }
}
