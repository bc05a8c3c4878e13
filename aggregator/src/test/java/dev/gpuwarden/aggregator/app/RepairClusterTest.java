package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.remediation.RepairAuditLog.RepairAudit;
import dev.gpuwarden.aggregator.remediation.RepairMetrics;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.remediation.RepairTemplates;
import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of repairs on a real API server with the shipped rights. The tests end the resources like a janitor. */
@Tag("api")
class RepairClusterTest {

    private static final String GPU = "GPU-455d8f70-2051-db6c-0430-ffc457bff834";
    private static final String OTHER = "GPU-55555555-2051-db6c-0430-ffc457bff834";

    private final List<RepairAudit> audits = new CopyOnWriteArrayList<>();
    private TestFleet fleet;
    private TestPods pods;
    private String bad;

    @BeforeEach
    void start() {
        fleet = TestFleet.start();
        pods = new TestPods(fleet, fleet.named("repair"));
        bad = fleet.named("broken");
        fleet.node(bad);
    }

    @AfterEach
    void end() {
        if (fleet != null) {
            fleet.close();
        }
    }

    private static RepairReconciler.Settings settings(boolean armed, boolean manual) {
        return new RepairReconciler.Settings(
                armed, manual, 2, Duration.ofDays(7), Duration.ofSeconds(2), RepairTemplates.NONE, "gpuwarden");
    }

    private HealthEvent.Builder xid(String code, RecommendedAction action, String gpu) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName(bad)
                .id("event-" + code)
                .fatal(true)
                .action(action)
                .message("<unknown> & worse")
                .errorCodes(List.of(code))
                .entities(List.of(Entity.gpu(gpu)));
    }

    private void fail48(String gpu) {
        fleet.report(bad, xid("48", RecommendedAction.COMPONENT_RESET, gpu).build());
    }

    private void recover(String code, String gpu) {
        fleet.report(
                bad,
                xid(code, RecommendedAction.NONE, gpu)
                        .fatal(false)
                        .healthy(true)
                        .build());
    }

    private String annotation(String name) {
        return fleet.get(bad, ".metadata.annotations." + name.replace(".", "\\."));
    }

    private String state() {
        return fleet.get(bad, ".metadata.labels.dgxc\\.nvidia\\.com/nvsentinel-state");
    }

    private List<Map<String, Object>> resources(String plural) {
        return JsonTrees.objects(fleet.client.get(plural), "items").stream()
                .filter(each -> JsonTrees.text(JsonTrees.object(each, "spec"), "nodeName")
                        .equals(bad))
                .toList();
    }

    private static String name(Map<String, Object> object) {
        return JsonTrees.text(JsonTrees.object(object, "metadata"), "name");
    }

    /** Returns what decides about the repair, for the message of a wait that has failed. */
    private String seen() {
        return "seen " + fleet.client.get("node/" + bad) + ", " + resources("gpuresets") + " and " + audits;
    }

    private String only(String plural) {
        until(() -> !resources(plural).isEmpty(), () -> "a resource is made, " + seen());
        assertThat(resources(plural)).hasSize(1);
        return name(resources(plural).get(0));
    }

    /** Ends a resource like its controller. */
    private void finish(String plural, String name, String condition, boolean succeeded) {
        String now = Instant.now().toString();
        fleet.client.patch(
                plural + "/" + name + "/status", """
                {"status": {"startTime": "%s", "completionTime": "%s", "conditions": [{"type": "%s", "status": "%s",
                "reason": "Test", "message": "the GPU is in use", "lastTransitionTime": "%s"}]}}
                """.formatted(now, now, condition, succeeded ? "True" : "False", now));
    }

    private List<String> decisions() {
        return audits.stream().map(RepairAudit::decision).distinct().toList();
    }

    @Test
    void drainedNodeGetsItsResetAndReturnsAfterIt() throws Exception {
        DrainCommandFixture.runWithGpu(pods, bad, "one", GPU);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            until(() -> pods.asked("one"), "the pod is evicted");
            assertThat(resources("gpuresets")).as("before the end of the drain").isEmpty();
            pods.end("one");
            String reset = only("gpuresets");
            Map<String, Object> made = resources("gpuresets").get(0);
            assertThat(reset).startsWith("maintenance-" + bad + "-");
            assertThat(JsonTrees.object(made, "spec").toString())
                    .isEqualTo("{nodeName=" + bad + ", selector={uuids=[" + GPU + "]}}");
            Map<String, Object> metadata = JsonTrees.object(made, "metadata");
            assertThat(JsonTrees.texts(metadata, "labels")).containsEntry("app.kubernetes.io/managed-by", "gpuwarden");
            assertThat(JsonTrees.texts(metadata, "annotations"))
                    .containsEntry("gpuwarden.dev/node-uid", fleet.get(bad, ".metadata.uid"))
                    .containsEntry("gpuwarden.dev/equivalence-group", "reset-" + GPU)
                    .containsEntry("gpuwarden.dev/fault", "SysLogsXIDError 48");
            assertThat(JsonTrees.objects(metadata, "ownerReferences").toString())
                    .contains("kind=Node", bad);
            assertThat(MaintenanceRecord.creator(metadata)).isEqualTo("gpuwarden-remediation");
            until(() -> state().equals("remediating"), "its label shows it");
            Map<String, Object> group = JsonTrees.object(
                    JsonTrees.object(Json.readObject(annotation("latestFaultRemediationState")), "equivalenceGroups"),
                    "reset-" + GPU);
            assertThat(group)
                    .containsEntry("maintenanceCR", reset)
                    .containsEntry("kind", "GPUReset")
                    .containsEntry("actionName", "COMPONENT_RESET");
            until(() -> fleet.eventReasons(bad).contains("RepairStarted"), "its Event is written");

            finish("gpuresets", reset, "Complete", true);
            until(() -> state().equals("remediation-succeeded"), "its result is stored");
            recover("48", GPU);
            until(() -> !fleet.cordoned(bad), "it returns");
            assertThat(annotation("latestFaultRemediationState")).isEmpty();
            assertThat(annotation("gpuwarden.dev/repair")).isEmpty();
            assertThat(state()).isEmpty();
            assertThat(annotation("gpuwarden.dev/repairs")).contains(reset, "\"result\":\"succeeded\"");
            until(() -> fleet.eventReasons(bad).contains("RepairSucceeded"), "its Event is written");
            assertThat(resources("gpuresets")).hasSize(1);
            assertThat(decisions()).containsExactly("act", "succeeded");
            assertThat(controllers.failing()).isZero();
        }
    }

    static ReportedGpus.Gpu gpu(int index, String uuid, String... others) {
        return new ReportedGpus.Gpu(
                index, Optional.empty(), Optional.of(uuid), Optional.of(new TreeSet<>(Set.of(others))));
    }

    @Test
    void gpusThatCanOnlyBeResetTogetherAreDrainedAndResetTogetherAndNoOther() throws Exception {
        String apart = "GPU-66666666-2051-db6c-0430-ffc457bff834";
        DrainCommandFixture.runWithGpu(pods, bad, "linked", GPU);
        DrainCommandFixture.runWithGpu(pods, bad, "faulty", OTHER);
        DrainCommandFixture.runWithGpu(pods, bad, "apart", apart);
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            fail48(OTHER);
            until(() -> pods.asked("faulty"), "an older daemon reports no units");
            assertThat(pods.untouched()).containsExactly("apart", "linked");
            fleet.gpus.put(bad, new ReportedGpus(List.of(gpu(0, GPU, OTHER), gpu(1, OTHER, GPU), gpu(2, apart))));
            fail48(OTHER);
            until(() -> pods.asked("linked"), "the pod of the other GPU is evicted");
            pods.end("faulty");
            pods.end("linked");
            String reset = only("gpuresets");
            assertThat(JsonTrees.object(resources("gpuresets").get(0), "spec").toString())
                    .isEqualTo("{nodeName=" + bad + ", selector={uuids=[" + GPU + ", " + OTHER + "]}}");
            finish("gpuresets", reset, "Complete", true);
            recover("48", OTHER);
            until(() -> !fleet.cordoned(bad), "it returns");
            assertThat(pods.untouched()).containsExactly("apart");
            assertThat(fleet.client.get("nodehealth/" + bad, ".status.gpus[1].resetWith[0]"))
                    .isEqualTo(GPU);
        }
    }

    @Test
    void failedResetLeadsToARebootAndAFailedRebootToAnOperator() {
        DrainCommandFixture.runWithGpu(pods, bad, "other", GPU);
        pods.annotate("other", "gpuwarden.dev/unused", "yes");
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            until(() -> pods.asked("other"), "the pod is evicted");
            pods.end("other");
            finish("gpuresets", only("gpuresets"), "Complete", false);
            finish("rebootnodes", only("rebootnodes"), "NodeReady", false);
            until(() -> fleet.eventReasons(bad).contains("RepairNeedsHelp"), "it waits for an operator");
            assertThat(state()).isEqualTo("remediation-failed");
            assertThat(annotation("gpuwarden.dev/repair")).contains("repair the node by hand: the reboot", "in use");
            assertThat(fleet.cordoned(bad)).isTrue();
            assertThat(resources("gpuresets")).hasSize(1);
            assertThat(resources("rebootnodes")).hasSize(1);
            assertThat(decisions()).contains("act", "failed", "person");
            assertThat(controllers.repairs().orElseThrow().metrics().results())
                    .containsEntry(new RepairMetrics.Ended("GPUReset", "failed"), 1L)
                    .containsEntry(new RepairMetrics.Ended("RebootNode", "failed"), 1L);
        }
    }

    @Test
    void approvalIsAwaitedAndBoundToTheAttempt() {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, true), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            until(() -> fleet.eventReasons(bad).contains("RepairAwaitsApproval"), "it stops");
            assertThat(resources("gpuresets")).isEmpty();
            String next = fleet.get(bad, ".metadata.annotations.gpuwarden\\.dev/repair");
            String resource = next.replaceAll(".*\"resource\":\"([^\"]*)\".*", "$1");
            approve("maintenance-of-another");
            assertThat(resources("gpuresets")).isEmpty();
            approve(resource);
            assertThat(only("gpuresets")).isEqualTo(resource);
            finish("gpuresets", resource, "Complete", false);
            until(
                    () -> annotation("gpuwarden.dev/repair").contains("RebootNode"),
                    () -> "the reboot needs its own approval, " + seen());
            assertThat(resources("rebootnodes")).isEmpty();
        }
    }

    private void approve(String resource) {
        fleet.client.patch(
                "node/" + bad,
                "{\"metadata\": {\"annotations\": {\"gpuwarden.dev/repair-approved\": \"" + resource + "\"}}}");
    }

    @Test
    void dryRunMakesNothingAndReportsIt() throws Exception {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(false, false), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            until(() -> fleet.eventReasons(bad).contains("RepairDryRun"), "its Event is written");
            until(() -> state().equals("drain-succeeded"), "it is drained");
            assertThat(resources("gpuresets")).isEmpty();
            assertThat(annotation("latestFaultRemediationState")).isEmpty();
            assertThat(audits).hasSize(1);
            assertThat(audits.get(0).dryRun()).isTrue();
            assertThat(audits.get(0).reason()).isEqualTo("reset of " + GPU + " for SysLogsXIDError 48");
            assertThat(audits.get(0).faults().get(0)).startsWith("SysLogsXIDError 48 since ");
        }
        try (KubeClient api = fleet.asDryRun()) {
            assertThatThrownBy(() -> ArmedRights.check(
                            api,
                            Optional.empty(),
                            Optional.empty(),
                            Optional.of(settings(true, false)),
                            Optional.empty(),
                            Optional.empty()))
                    .isInstanceOf(UserError.class)
                    .hasMessageContaining("--remediation.mode=armed needs rights")
                    .hasMessageContaining("components/remediation-armed");
        }
    }

    @Test
    void otherProgramsRepairStopsThisOne() {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            fleet.client.patch(
                    "node/" + bad, "{\"metadata\": {\"annotations\": {\"latestFaultRemediationState\": \"{}\"}}}");
            fail48(GPU);
            until(() -> decisions().contains("blocked"), "it stops");
            assertThat(audits.get(0).reason()).contains("another program has written the annotation");
            until(() -> state().equals("drain-succeeded"), "it is drained");
            assertThat(resources("gpuresets")).isEmpty();
            fleet.client.patch(
                    "node/" + bad, "{\"metadata\": {\"annotations\": {\"latestFaultRemediationState\": null}}}");
            String reset = only("gpuresets");
            until(() -> state().equals("remediating"), "it is recorded");

            fleet.client.apply("""
                    {apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: GPUReset,
                    metadata: {name: %s, finalizers: [janitor.dgxc.nvidia.com/finalizer]}, spec: {nodeName: elsewhere}}
                    """.formatted(fleet.named("foreign")));
            until(controllers::works, "it leads");
            fail48(OTHER);
            until(
                    () -> audits.stream().anyMatch(audit -> audit.reason().contains("another janitor works")),
                    "it stops");
            finish("gpuresets", reset, "Complete", true);
            until(() -> state().equals("remediation-succeeded"), "the result of its own resource is stored");
            assertThat(resources("gpuresets")).hasSize(1);
        }
    }

    @Test
    void nextLeaderContinuesWithTheSameResource() {
        String reset;
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            reset = only("gpuresets");
        }
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "two", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            fail48(OTHER);
            until(() -> resources("gpuresets").size() == 2, "the other GPU gets its own");
            assertThat(resources("gpuresets").stream().map(RepairClusterTest::name))
                    .contains(reset);
            fleet.client.delete("gpuresets/" + reset);
            until(() -> annotation("gpuwarden.dev/repairs").contains("\"result\":\"deleted\""), "it is gone");
            assertThat(resources("gpuresets")).as("not made again").hasSize(1);
        }
    }
}
