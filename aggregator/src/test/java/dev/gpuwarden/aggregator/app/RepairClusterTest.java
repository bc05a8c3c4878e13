package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.maintenance.MaintenanceRecord;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.remediation.RepairMetrics;
import dev.gpuwarden.core.util.JsonTrees;
import dev.gpuwarden.testkit.cluster.UsedRights;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Tests of repairs on a real API server with the shipped rights. The tests end the resources like a janitor. */
@Tag("api")
@ExtendWith(UsedRights.class)
class RepairClusterTest extends RepairFixture {

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

    @Test
    void nodeWhoseFaultEndsStaysUntilItsMaintenanceHasEnded() {
        try (KubeClient api = fleet.asAggregator();
                Controllers controllers = TestPods.repairing(api, "one", settings(true, false), audits)) {
            until(controllers::works, "it leads");
            fail48(GPU);
            String reset = only("gpuresets");
            until(() -> state().equals("remediating"), "it is recorded");
            recover("48", GPU);
            until(() -> controllers.held().contains(bad), "it waits");
            assertThat(fleet.cordoned(bad)).isTrue();
            finish("gpuresets", reset, "Complete", true);
            until(() -> !fleet.cordoned(bad), "it returns by the end of the resource");
            until(() -> controllers.held().isEmpty(), "it waits no more");
        }
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
            fleet.gpus.put(bad, TestGpus.units(List.of(GPU, OTHER), List.of(apart)));
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
            assertThat(controllers.repairs().orElseThrow().metrics().results.sums())
                    .containsEntry(new RepairMetrics.Ended("GPUReset", "failed"), 1L)
                    .containsEntry(new RepairMetrics.Ended("RebootNode", "failed"), 1L);
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
            assertThat(resources("gpuresets").stream().map(RepairFixture::name)).contains(reset);
            fleet.client.delete("gpuresets/" + reset);
            until(() -> annotation("gpuwarden.dev/repairs").contains("\"result\":\"deleted\""), "it is gone");
            assertThat(resources("gpuresets")).as("not made again").hasSize(1);
        }
    }
}
