package dev.gpuwarden.aggregator.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.fleet.ClusterContext.Leader;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import dev.gpuwarden.aggregator.remediation.NodePipeline.Resources;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class NodePipelinesTest {

    private static final String DAY = "2026-11-22T";
    private static final Resources NONE = new Resources(List.of(), "");

    private final Map<String, Object> annotations = new LinkedHashMap<>();
    private final List<Object> repairs = new ArrayList<>();
    private final Map<String, Object> labels = new LinkedHashMap<>();
    private boolean cordoned = true;
    private Optional<Map<String, Object>> health =
            NodeAssessorTest.health(DAY + "05:59:30Z", NodeAssessorTest.fault(true, ""));

    /** The node leaves service at 05:01. */
    private void quarantine() {
        annotations.put(
                "quarantineHealthEvent",
                "[{\"agent\":\"a\",\"componentClass\":\"GPU\",\"checkName\":\"Xid\",\"nodeName\":\"n\",\"errorCode\":[\"79\"],"
                        + "\"entitiesImpacted\":[{\"entityType\":\"PCI\",\"entityValue\":\"0000:3b:00\"}]}]");
        annotations.put("quarantineHealthEventIsCordoned", "True");
        annotations.put("gpuwarden.dev/quarantine-reason", "because");
        annotations.put("gpuwarden.dev/quarantined-at", DAY + "05:01:00Z");
    }

    private void drained() {
        annotations.put(
                "gpuwarden.dev/drain",
                Json.write(Map.of("full", DAY + "05:01:02Z", "why", "Xid 79", "finished", DAY + "05:10:00Z")));
    }

    /** Records an attempt; {@code ended} is its time, or empty. */
    private void attempt(String resource, String kind, String at, String result, String ended) {
        Map<String, Object> tree = new LinkedHashMap<>(Map.of(
                "resource",
                resource,
                "kind",
                kind,
                "fault",
                "f",
                "for",
                "Xid 79",
                "at",
                DAY + at,
                "gpus",
                List.of("GPU-1")));
        if (!result.isEmpty()) {
            tree.putAll(Map.of("result", result, "ended", DAY + ended, "why", "in use"));
        }
        repairs.add(tree);
        annotations.put("gpuwarden.dev/repairs", Json.write(repairs));
        Map<String, Object> groups = new LinkedHashMap<>();
        repairs.forEach(each ->
                groups.put("g" + groups.size(), Map.of("maintenanceCR", ((Map<?, ?>) each).get("resource"))));
        annotations.put("latestFaultRemediationState", Json.write(Map.of("equivalenceGroups", groups)));
    }

    private static Map<String, Object> condition(String type, String status, String reason, String message, String at) {
        return Map.of(
                "type", type, "status", status, "reason", reason, "message", message, "lastTransitionTime", DAY + at);
    }

    private static MaintenanceRecord resource(
            MaintenanceKind kind, String name, String created, Map<String, Object> status) {
        return MaintenanceRecord.of(
                kind,
                Map.of(
                        "metadata",
                        Map.of("name", name, "creationTimestamp", DAY + created),
                        "spec",
                        Map.of("nodeName", "n"),
                        "status",
                        status));
    }

    private static MaintenanceRecord failedReset() {
        return resource(
                MaintenanceKind.GPU_RESET,
                "r1",
                "05:10:01Z",
                Map.of(
                        "startTime",
                        DAY + "05:10:04Z",
                        "completionTime",
                        DAY + "05:12:00Z",
                        "conditions",
                        List.of(
                                condition("ServicesTornDown", "True", "S", "m", "05:10:24Z"),
                                condition("ResetJobCreated", "True", "R", "m", "05:10:25Z"),
                                condition("ResetJobCompleted", "False", "F", "in use", "05:11:25Z"),
                                condition("ServicesRestored", "True", "S", "m", "05:12:00Z"),
                                condition("Complete", "False", "F", "in use", "05:12:00Z"))));
    }

    private static MaintenanceRecord openReboot() {
        return resource(
                MaintenanceKind.REBOOT_NODE,
                "r2",
                "05:12:10Z",
                Map.of(
                        "startTime",
                        DAY + "05:12:11Z",
                        "conditions",
                        List.of(condition("SignalSent", "True", "J", "boot 1 ends", "05:12:12Z"))));
    }

    private Optional<NodePipeline> pipeline(Resources resources) {
        NodeFacts facts = NodeFacts.of(Map.of(
                "metadata",
                Map.of("name", "n", "uid", "u", "resourceVersion", "7", "labels", labels, "annotations", annotations),
                "spec",
                Map.of("unschedulable", cordoned)));
        ClusterContext around = new ClusterContext(
                Seen.of(RuleEvaluator.EMPTY),
                new BreakerStatus(
                        Seen.of(BreakerState.NEW),
                        Seen.of(NodeAssessorTest.LIMITS),
                        Seen.of(ActionMode.ARMED),
                        NodeAssessorTest.ARMED),
                Seen.of(Map.of("all", new PoolCount(2, Set.of(), Map.of(), Map.of()))),
                Seen.of(new Leader("one", NodeAssessorTest.NOW.plusSeconds(10))));
        NodeAssessment assessment = NodeAssessor.of(facts, health, around, NodeAssessorTest.NOW);
        return NodePipelines.of(facts.node(), assessment, resources);
    }

    private List<String> lines(Resources resources) {
        return pipeline(resources).orElseThrow().stages().stream()
                .map(NodePipelinesTest::line)
                .toList();
    }

    private static String line(Stage stage) {
        return stage.name() + ": " + stage.state().label()
                + stage.begin().map(at -> " " + clock(at)).orElse("")
                + stage.took()
                        .map(Duration::toSeconds)
                        .map(time -> " " + time + "s")
                        .orElse("")
                + (stage.why().isEmpty() ? "" : ", " + stage.why());
    }

    private static String clock(Instant at) {
        return at.toString().substring(11, 19);
    }

    @Test
    void stagesOfAFailedResetAndTheRebootAfterIt() {
        quarantine();
        drained();
        attempt("r1", "GPUReset", "05:10:01Z", "failed", "05:12:00Z");
        attempt("r2", "RebootNode", "05:12:10Z", "", "");
        assertThat(lines(new Resources(List.of(openReboot(), failedReset()), "")))
                .containsExactly(
                        "fault: done 05:00:00 60s, Xid 79 on PCI 0000:3b:00",
                        "quarantine: done 05:01:00 0s",
                        "drain: done 05:01:02 538s, drained of all pods at 2026-11-22T05:10:00Z",
                        "approval: not-needed, the action was automatic",
                        "lock: done 05:10:01 3s",
                        "services stopped: done 05:10:04 20s",
                        "reset: failed 05:10:25 60s, in use",
                        "services restored: done 05:11:25 35s",
                        "lock: done 05:12:10 1s",
                        "services stopped: not-needed, the node goes down with them",
                        "reboot: in-progress 05:12:11, boot 1 ends",
                        "services restored: not-needed, the node starts them",
                        "verification: not-yet",
                        "back in service: not-yet, returns when this is over: Xid 79 on PCI 0000:3b:00");
        assertThat(pipeline(new Resources(List.of(openReboot(), failedReset()), ""))
                        .orElseThrow()
                        .stages())
                .filteredOn(stage -> stage.name().equals("lock"))
                .extracting(Stage::resource)
                .containsExactly("GPUReset r1", "RebootNode r2");
    }

    @Test
    void unreadResourcesAreNoAbsence() {
        quarantine();
        assertThat(lines(Resources.unread("gpuresets: forbidden")))
                .contains("repair: unknown, could not be read: gpuresets: forbidden");
        attempt("r1", "GPUReset", "05:10:01Z", "failed", "05:12:00Z");
        assertThat(lines(Resources.unread("gpuresets: forbidden")))
                .contains("reset: failed 05:10:01 119s, in use; its steps could not be read: gpuresets: forbidden");
        assertThat(lines(NONE))
                .contains("reset: failed 05:10:01 119s, in use; its resource is gone, and its steps with it");
        annotations.put("gpuwarden.dev/repairs", "nonsense");
        assertThat(lines(NONE))
                .anyMatch(line -> line.startsWith("repair: unknown, its annotation gpuwarden.dev/repair")
                        && line.contains("cannot be read"));
    }

    @Test
    void repairThatWaitsForAnUpgradeOfTheDriverNamesIt() {
        quarantine();
        drained();
        labels.put("nvidia.com/gpu-driver-upgrade-state", "validation-required");
        String waits = "repair: waiting, the GPU Operator upgrades its driver: expected the label"
                + " nvidia.com/gpu-driver-upgrade-state to be upgrade-done or absent, seen validation-required";
        assertThat(lines(NONE)).contains(waits);
        attempt("r1", "GPUReset", "05:10:01Z", "postponed", "05:12:00Z");
        assertThat(lines(NONE)).contains(waits);
        attempt("r2", "GPUReset", "05:14:01Z", "", "");
        assertThat(lines(NONE)).doesNotContain(waits);
    }

    @Test
    void approvalsAndOperatorsAreAwaited() {
        quarantine();
        drained();
        Map<String, Object> next =
                Map.of("resource", "r1", "kind", "RebootNode", "fault", "f", "for", "Xid 79", "at", DAY + "05:11:00Z");
        annotations.put("gpuwarden.dev/repair", Json.write(Map.of("next", next)));
        assertThat(lines(NONE))
                .containsSubsequence(
                        "approval: waiting 05:11:00, gpuwarden approve n", "lock: not-yet", "reboot: not-yet, reboot");
        annotations.put(
                "gpuwarden.dev/repair",
                Json.write(Map.of("person", Map.of("task", "replace it", "since", DAY + "05:12:00Z"))));
        assertThat(lines(NONE)).contains("operator: waiting 05:12:00, replace it");
        annotations.remove("gpuwarden.dev/repair");
        assertThat(lines(NONE)).containsSubsequence("lock: not-yet", "repair: not-yet, reboot for Xid 79");
        attempt("r2", "RebootNode", "05:12:10Z", "", "");
        annotations.computeIfPresent(
                "gpuwarden.dev/repairs",
                (name, text) -> String.valueOf(text).replace("\"Xid 79\"", "\"Xid 79, approved by eve\""));
        assertThat(lines(NONE))
                .as("a text of the node is no approval")
                .noneMatch(line -> line.startsWith("approval: done"));
        annotations.computeIfPresent(
                "gpuwarden.dev/repairs",
                (name, text) -> String.valueOf(text).replace("\"for\"", "\"approvedBy\":\"ann\",\"for\""));
        assertThat(lines(NONE)).contains("approval: done, by ann");
    }

    @Test
    void creatorIsTheFirstWriterOfTheSpec() {
        List<Map<String, Object>> managed = List.of(
                Map.of("manager", "a-janitor", "time", DAY + "05:00:00Z", "fieldsV1", Map.of("f:metadata", Map.of())),
                Map.of("manager", "kubectl-edit", "time", DAY + "05:00:09Z", "fieldsV1", Map.of("f:spec", Map.of())),
                Map.of("manager", "kubectl-create", "time", DAY + "05:00:00Z", "fieldsV1", Map.of("f:spec", Map.of())));
        assertThat(MaintenanceRecord.creator(Map.of("managedFields", managed))).isEqualTo("kubectl-create");
        assertThat(MaintenanceRecord.creator(Map.of())).isEmpty();
    }

    @Test
    void lastRepairStaysAfterTheReturn() {
        attempt("r1", "GPUReset", "05:10:01Z", "succeeded", "05:12:00Z");
        annotations.remove("latestFaultRemediationState");
        annotations.put("gpuwarden.dev/quarantined-at", DAY + "05:01:00Z");
        annotations.put("gpuwarden.dev/quarantine-decided-at", DAY + "05:12:30Z");
        cordoned = false;
        health = NodeAssessorTest.health(DAY + "05:59:30Z");
        assertThat(pipeline(NONE).orElseThrow().over()).isTrue();
        assertThat(lines(NONE))
                .containsSubsequence(
                        "quarantine: done 05:01:00 0s",
                        "reset: done 05:10:01 119s, in use; its resource is gone, and its steps with it",
                        "verification: done 05:12:00 30s",
                        "back in service: done 05:12:30 0s, None of the faults that held it is left.");
        annotations.put("quarantinedNodeUncordonedManually", "True");
        assertThat(lines(NONE)).contains("verification: unknown, the Node keeps no time of it after the quarantine");
    }

    @Test
    void returnBeforeTheEndOfItsResourceIsVerifiedByTheResource() {
        attempt("r1", "RebootNode", "05:10:01Z", "", "");
        annotations.remove("latestFaultRemediationState");
        annotations.put("gpuwarden.dev/quarantine-decided-at", DAY + "05:12:30Z");
        cordoned = false;
        health = NodeAssessorTest.health(DAY + "05:59:30Z");
        Map<String, Object> status = Map.of(
                "startTime",
                DAY + "05:10:02Z",
                "completionTime",
                DAY + "05:12:31Z",
                "conditions",
                List.of(condition("NodeReady", "True", "Rebooted", "m", "05:12:31Z")));
        MaintenanceRecord reboot = resource(MaintenanceKind.REBOOT_NODE, "r1", "05:10:01Z", status);
        assertThat(lines(new Resources(List.of(reboot), "")))
                .contains("reboot: done 05:10:02 149s", "verification: done 05:12:31 0s");
    }

    @Test
    void nodesInServiceHaveOneOnlyWithACause() {
        cordoned = false;
        assertThat(lines(NONE).get(0)).startsWith("fault: in-progress 05:00:00");
        assertThat(lines(NONE).get(1)).startsWith("quarantine: waiting");
        health = NodeAssessorTest.health(DAY + "05:59:30Z");
        assertThat(pipeline(NONE)).isEmpty();
        assertThat(pipeline(Resources.unread("forbidden"))).isEmpty();
        assertThat(lines(new Resources(List.of(openReboot()), "")))
                .as("made by hand")
                .contains("reboot: in-progress 05:12:11, boot 1 ends");
    }
}
