package dev.gpuwarden.aggregator.app;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the failures of maintenance, with a real API server. */
@Tag("api")
@Tag("soak")
class JanitorClusterTest extends JanitorFixture {

    JanitorClusterTest() {
        super(Workshop.times(Duration.ofSeconds(1)));
    }

    private void over(String resource, String node) {
        until(
                () -> shop.over(resource, node),
                () -> resource + " is over, seen " + fleet.client.find(resource.replace("/", "/maintenance-")));
    }

    @Test
    void aFailureNamesItsStepAndTheServicesReturn() {
        shop.node("fails");
        shop.services("fails");
        var labels = shop.labels("fails");
        shop.fails("fails");
        shop.reset("fails");
        over("gpureset/fails", "fails");
        assertThat(shop.condition("gpureset/fails", "Complete")).isEqualTo("False ResetJobFailed");
        assertThat(shop.message("gpureset/fails", "Complete"))
                .endsWith(
                        "expected a reset and verified GPU, seen GPU-a: the reset failed at the step reset: In use by another client");
        assertThat(shop.condition("gpureset/fails", "ServicesRestored")).isEqualTo("True ServicesRestored");
        assertThat(shop.labels("fails")).isEqualTo(labels);

        shop.node("refuses");
        shop.fails("refuses");
        shop.reboot("refuses");
        over("rebootnode/refuses", "refuses");
        assertThat(shop.condition("rebootnode/refuses", "NodeReady")).isEqualTo("False RebootRefused");
    }

    @Test
    void servicesThatDoNotEndAreRestoredAndNothingIsReset() {
        shop.node("holds");
        shop.services("holds");
        var labels = shop.labels("holds");
        shop.hangs("holds");
        shop.reset("holds");
        over("gpureset/holds", "holds");
        assertThat(shop.condition("gpureset/holds", "Complete")).isEqualTo("False ServiceTeardownTimeoutExceeded");
        assertThat(shop.message("gpureset/holds", "Complete")).contains("gpu-operator/dcgm-exporter-holds");
        assertThat(shop.labels("holds")).isEqualTo(labels);
        assertThat(shop.actions).doesNotContainKey("holds");
    }

    @Test
    void aResourceThatIsDeletedInTheMiddleEndsItsActionAndRestoresAll() {
        shop.node("deleted");
        shop.services("deleted");
        var labels = shop.labels("deleted");
        shop.reset("deleted");
        until(() -> !shop.of("gpureset/deleted", ".status.startTime").isEmpty(), "it has begun");
        fleet.client.delete("gpureset/maintenance-deleted");
        until(
                () -> {
                    shop.play("deleted");
                    return fleet.client.find("gpureset/maintenance-deleted").isEmpty();
                },
                "it is gone");
        assertThat(fleet.client.find("lease/locks/deleted")).isEmpty();
        assertThat(shop.labels("deleted")).isEqualTo(labels);
        assertThat(shop.actions.getOrDefault("deleted", List.of())).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void aPartOfTheGpusThatCanOnlyBeResetTogetherIsRefused() {
        String other = "GPU-55555555-2051-db6c-0430-ffc457bff834";
        fleet.gpus.put("part", TestGpus.units(List.of(Workshop.GPU, other)));
        fleet.node("part");
        shop.node("part");
        until(() -> running.nodes().health("part").isPresent(), "the report is there");
        shop.reset("part");
        over("gpureset/part", "part");
        assertThat(shop.condition("gpureset/part", "Complete")).isEqualTo("False PartOfResetUnit");
        assertThat(shop.message("gpureset/part", "Complete"))
                .endsWith("expected all GPUs that can only be reset together, " + Workshop.GPU + ", " + other
                        + ", seen " + Workshop.GPU);
        assertThat(shop.actions).doesNotContainKey("part");
    }

    @Test
    void aGpuThatTheNodeDoesNotHaveIsRefusedBeforeServicesAreStopped() {
        String there = "GPU-55555555-2051-db6c-0430-ffc457bff834";
        fleet.gpus.put("elsewhere", TestGpus.units(List.of(there)));
        fleet.node("elsewhere");
        shop.node("elsewhere");
        shop.services("elsewhere");
        var labels = shop.labels("elsewhere");
        until(() -> running.nodes().health("elsewhere").isPresent(), "the report is there");
        shop.reset("elsewhere");
        // Nothing plays the GPU Operator and the kubelet, so a resource that stops services or makes a Job would not
        // end.
        until(
                () -> shop.condition("gpureset/elsewhere", "Complete").equals("False GPUNotOnNode"),
                () -> "it is refused, seen " + shop.of("gpureset/elsewhere", ".status"));
        assertThat(shop.message("gpureset/elsewhere", "Complete")).contains(there, "seen " + Workshop.GPU);
        assertThat(shop.labels("elsewhere")).isEqualTo(labels);
    }

    @Test
    void actionsOnOneNodeFollowEachOtherAndTheSameIsRefused() {
        shop.node("busy");
        shop.create("GPUReset", "busy", "busy", "selector: {uuids: [" + Workshop.GPU + "]}");
        // Either of two may be the first that were created in the same second and have not begun.
        until(() -> !shop.of("gpureset/busy", ".status.startTime").isEmpty(), "it has begun");
        shop.create("GPUReset", "busy-same", "busy", "selector: {uuids: [" + Workshop.GPU + "]}");
        shop.create("RebootNode", "busy-reboot", "busy", "force: false");
        until(
                () -> shop.message("rebootnode/busy-reboot", "SignalSent")
                        .contains("which GPUReset maintenance-busy has"),
                () -> "it waits, seen " + fleet.client.find("rebootnode/maintenance-busy-reboot", ".status") + " and "
                        + fleet.client.find("gpureset/maintenance-busy", ".status"));
        until(
                () -> shop.condition("gpureset/busy-same", "Complete").equals("False AlreadyInProgress"),
                "the same is refused");
        over("rebootnode/busy-reboot", "busy");
        over("gpureset/busy", "busy");
        assertThat(shop.actions.get("busy"))
                .satisfiesExactly(
                        first -> assertThat(first).startsWith("gpu-reset-"),
                        last -> assertThat(last).startsWith("reboot-"));
    }

    @Test
    void anotherJanitorsResourcesAndLocksAreLeftAlone() {
        shop.node("theirs");
        fleet.client.apply("""
                {apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: RebootNode, metadata: {name: maintenance-theirs,
                finalizers: [janitor.dgxc.nvidia.com/finalizer]}, spec: {nodeName: theirs}}""");
        shop.node("locked");
        fleet.client.apply(
                "{apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: locked, namespace: locks}}");
        shop.reboot("locked");
        shop.node("nvsentinels");
        fleet.client.apply("""
                {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: nvsentinels, namespace: locks,
                ownerReferences: [{apiVersion: janitor.dgxc.nvidia.com/v1alpha1, kind: RebootNode, name: maintenance-theirs,
                uid: "%s"}]}}
                """.formatted(shop.of("rebootnode/theirs", ".metadata.uid")));
        shop.reset("nvsentinels");
        shop.node("template");
        fleet.client.apply("""
                {apiVersion: coordination.k8s.io/v1, kind: Lease, metadata: {name: template, namespace: locks,
                annotations: {gpuwarden.dev/locked-for: maintenance-1},
                ownerReferences: [{apiVersion: v1, kind: Node, name: template, uid: "%s"}]}}
                """.formatted(fleet.get("template", ".metadata.uid")));
        shop.reboot("template");
        until(
                () -> shop.of("rebootnode/template", ".status").contains("maintenance-1, the resource of a template"),
                "it waits for the user's template");
        until(() -> running.janitor().janitor().foreign() == 3, "all of them are left alone");
        for (String node : List.of("theirs", "locked", "nvsentinels")) {
            assertThat(fleet.eventReasons(node)).containsExactly("MaintenanceLeftToOthers");
        }
        assertThat(shop.of("rebootnode/theirs", ".status")).isEmpty();
        assertThat(shop.of("rebootnode/locked", ".status")).isEmpty();
        assertThat(shop.of("gpureset/nvsentinels", ".status")).isEmpty();
        fleet.client.patch("rebootnode/maintenance-theirs/status", """
                {"status": {"completionTime": "2026-11-28T06:00:00Z", "conditions": [{"type": "NodeReady", "status": "True",
                "reason": "Rebooted", "message": "", "lastTransitionTime": "2026-11-28T06:00:00Z"}]}}""");
        until(() -> running.janitor().janitor().foreign() == 2, "an ended one counts no more");
        fleet.client.delete("lease/locks/locked");
        fleet.client.patch("node/locked", "{\"metadata\": {\"labels\": {\"changed\": \"1\"}}}");
        over("rebootnode/locked", "locked");
        assertThat(shop.condition("rebootnode/locked", "NodeReady")).isEqualTo("True Rebooted");
    }

    @Test
    void anotherJanitorInTheMiddleGetsANodeWithItsServicesAndOtherNodesGoOn() {
        shop.node("midway");
        shop.services("midway");
        var labels = shop.labels("midway");
        shop.reset("midway");
        until(() -> shop.labels("midway").containsValue("paused-for-gpu-reset"), "its services are stopped");
        fleet.client.patch("gpureset/maintenance-midway", """
                {"metadata": {"finalizers": ["gpuwarden.dev/janitor", "janitor.dgxc.nvidia.com/finalizer"]}}""");
        shop.node("goes-on");
        shop.reset("goes-on");
        over("gpureset/goes-on", "goes-on");
        assertThat(shop.condition("gpureset/goes-on", "Complete")).isEqualTo("True ResetSucceeded");
        until(
                () -> {
                    shop.play("midway");
                    return shop.of("gpureset/midway", ".metadata.finalizers")
                            .equals("[\"janitor.dgxc.nvidia.com/finalizer\"]");
                },
                () -> "it is left to the other, seen " + fleet.client.find("gpureset/maintenance-midway"));
        assertThat(shop.condition("gpureset/midway", "Complete")).isEqualTo("False OtherJanitor");
        assertThat(shop.labels("midway")).isEqualTo(labels);
        assertThat(fleet.client.find("lease/locks/midway")).isEmpty();
        assertThat(shop.actions).doesNotContainKey("midway");
    }

    @Test
    void aNodeThatVanishesIsNoSuccessExceptForItsTermination() {
        shop.node("gone");
        shop.hangs("gone");
        shop.create("GPUReset", "gone", "gone", "selector: {uuids: [" + Workshop.GPU + "]}");
        until(() -> !shop.of("gpureset/gone", ".status.jobRef.uid").isEmpty(), "it acts");
        String job = "job/gpuwarden/" + shop.of("gpureset/gone", ".status.jobRef.name");
        until(
                () -> fleet.client.find(job, ".metadata.annotations").contains("gpuwarden.dev/started"),
                "its start has a time");
        shop.node("ended");
        shop.create("TerminateNode", "ended", "ended", "force: false");
        until(() -> !shop.of("terminatenode/ended", ".status.startTime").isEmpty(), "it has begun");
        fleet.client.delete("node/ended");
        until(
                () -> shop.condition("terminatenode/ended", "NodeTerminated").equals("True NodeGone"),
                "it is terminated");
        fleet.client.delete(job + "?propagationPolicy=Background");
        until(
                () -> shop.condition("gpureset/gone", "Complete").equals("False ResetJobNotFound"),
                () -> "its Job is missed, seen " + shop.condition("gpureset/gone", "Complete"));
    }
}
