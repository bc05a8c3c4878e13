package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.janitor.Acceptance.Verdict;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.core.node.ReportedGpus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AcceptanceTest {

    private final JanitorWorld world = new JanitorWorld();
    /** The device of a pod on the node, which is not drained; empty for a drained node. */
    private Optional<String> holder = Optional.empty();
    /** The UUID of a GPU whose reset is in progress. */
    private Optional<String> ahead = Optional.empty();

    private Verdict verdict(MaintenanceKind kind) {
        return Acceptance.of(world.scene(world.add(kind), true));
    }

    @Test
    void aPartOfTheGpusThatCanOnlyBeResetTogetherIsRefused() {
        world.gpus = TestGpus.units(List.of("GPU-r0", "GPU-r1"), List.of("GPU-r2"));
        assertThat(verdict(MaintenanceKind.GPU_RESET))
                .isEqualTo(new Verdict.Refused(
                        "PartOfResetUnit",
                        "spec.selector.uuids: expected all GPUs that can only be reset together, GPU-r0, GPU-r1, seen"
                                + " GPU-r0"));
        assertThat(verdict(MaintenanceKind.REBOOT_NODE)).isNotInstanceOf(Verdict.Refused.class);
        assertThat(verdict(MaintenanceKind.GPU_RESET)).as("GPU-r2").isNotInstanceOf(Verdict.Refused.class);
        world.gpus = ReportedGpus.NONE;
        assertThat(verdict(MaintenanceKind.GPU_RESET)).as("of unknown unit").isNotInstanceOf(Verdict.Refused.class);
    }

    @Test
    void aGpuWhoseUnitMayBeMissingInACutListIsRefused() {
        world.gpus = TestGpus.cut(TestGpus.units(List.of("GPU-r2")));
        assertThat(verdict(MaintenanceKind.GPU_RESET))
                .as("GPU-r0")
                .isInstanceOfSatisfying(Verdict.Refused.class, refused -> {
                    assertThat(refused.reason()).isEqualTo("ResetUnitUnknown");
                    assertThat(refused.message()).contains("GPU-r0", "status.unlistedGpuCount", "gpuwarden gpu-reset");
                });
        assertThat(verdict(MaintenanceKind.REBOOT_NODE)).isNotInstanceOf(Verdict.Refused.class);
        assertThat(verdict(MaintenanceKind.GPU_RESET)).as("GPU-r2").isNotInstanceOf(Verdict.Refused.class);
    }

    @Test
    void aGpuThatACompleteListLacksIsRefusedAndNoOther() {
        world.gpus = TestGpus.units(List.of("GPU-a"), List.of("GPU-b"));
        assertThat(verdict(MaintenanceKind.GPU_RESET))
                .isEqualTo(new Verdict.Refused(
                        "GPUNotOnNode",
                        "spec.selector.uuids: expected GPUs of Node node-1, GPU-a, GPU-b, seen GPU-r0: use a UUID of"
                                + " status.gpus of its NodeHealth"));
        assertThat(verdict(MaintenanceKind.REBOOT_NODE)).isNotInstanceOf(Verdict.Refused.class);
    }

    /** The spellings of one UUID that the schema of the resource permits, or that another program writes. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c",
                "GPU-8199171B-FB75-A4C1-93A6-B4BB93AAF91C",
                "GPU-8199171b-FB75-a4c1-93A6-b4bb93aaf91c",
                "gpu-8199171b-fb75-a4c1-93a6-b4bb93aaf91c",
                " GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c "
            })
    void aGpuIsTheSameInEachSpellingOfItsUuid(String uuid) throws Exception {
        String gpu = "GPU-8199171b-fb75-a4c1-93a6-b4bb93aaf91c";
        String other = "GPU-9199171b-fb75-a4c1-93a6-b4bb93aaf91c";
        String selector = "\"uuids\": [\"" + uuid + "\"]";
        world.add(MaintenanceKind.REBOOT_NODE);
        world.gpus = TestGpus.units(List.of(gpu), List.of(other));
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", selector)).isEqualTo("accepted");
        world.gpus = TestGpus.units(List.of(gpu, other));
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", selector)).startsWith("PartOfResetUnit: ");
        world.gpus = TestGpus.units(List.of(other));
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", selector)).startsWith("GPUNotOnNode: ");
        world.gpus = TestGpus.units(List.of(uuid), List.of(other));
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", "\"uuids\": [\"" + gpu + "\"]"))
                .isEqualTo("accepted");
        world.gpus = ReportedGpus.NONE;
        holder = Optional.of(gpu);
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", selector)).startsWith("NodeNotDrained: ");
        holder = Optional.of(uuid.strip() + "::2");
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", "\"uuids\": [\"" + gpu + "\"]"))
                .startsWith("NodeNotDrained: ");
        holder = Optional.empty();
        ahead = Optional.of(uuid);
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", "\"uuids\": [\"" + gpu + "\"]"))
                .startsWith("AlreadyInProgress: ");
    }

    @Test
    void aListThatDoesNotProveTheAbsenceOfAGpuRefusesNothing() {
        ReportedGpus listed = TestGpus.units(List.of("GPU-a"));
        List<ReportedGpus.Gpu> andOneThatDoesNotReportItsUuid = new ArrayList<>(listed.gpus());
        andOneThatDoesNotReportItsUuid.add(
                new ReportedGpus.Gpu(1, Optional.empty(), Optional.empty(), Optional.empty()));
        world.gpus = ReportedGpus.NONE;
        assertThat(verdict(MaintenanceKind.GPU_RESET)).isEqualTo(new Verdict.Accepted());
        world.gpus = new ReportedGpus(andOneThatDoesNotReportItsUuid);
        assertThat(verdict(MaintenanceKind.GPU_RESET)).isEqualTo(new Verdict.Accepted());
        world.gpus = new ReportedGpus(listed.gpus(), OptionalLong.empty());
        assertThat(verdict(MaintenanceKind.GPU_RESET))
                .as("its unit is another matter")
                .isInstanceOfSatisfying(
                        Verdict.Refused.class,
                        refused -> assertThat(refused.reason()).isEqualTo("ResetUnitUnknown"));
    }

    /** Returns the refusal of a resource that an operator made. */
    private String refused(MaintenanceKind kind, String node, String annotations, String selector) throws IOException {
        Maintenance resource = Maintenance.of(kind, Json.readObject("""
                        {"metadata": {"name": "by-hand", "uid": "u", "generation": 1, "annotations": {%s}},
                        "spec": {"nodeName": "%s", "selector": {%s}}}
                        """.formatted(annotations, node, selector)));
        Scene facts = world.scene(world.resources.get(0), holder.isEmpty());
        List<Maintenance> others = ahead.isPresent()
                ? List.of(Maintenance.of(MaintenanceKind.GPU_RESET, Json.readObject("""
                        {"metadata": {"name": "ahead", "uid": "a"},
                        "spec": {"nodeName": "node-1", "selector": {"uuids": ["%s"]}}}
                        """.formatted(ahead.get()))))
                : world.resources.stream().map(WorldResource::read).toList();
        return Acceptance.of(new Scene(
                                resource,
                                facts.node(),
                                NodeLock.Lock.FREE,
                                Optional.empty(),
                                holder.isPresent()
                                        ? Optional.of(
                                                List.of(Scene.NodePod.of(pod(holder.get(), "Job", "team", "Running"))))
                                        : facts.pods(),
                                others,
                                facts.gpus(),
                                facts.settings(),
                                facts.now(),
                                facts.source()))
                        instanceof Verdict.Refused refused
                ? refused.reason() + ": " + refused.message()
                : "accepted";
    }

    @Test
    void resourceByHandIsRefusedWithWhatWasExpectedAndSeen() throws Exception {
        String gpu = "\"uuids\": [\"GPU-a\"]";
        world.add(MaintenanceKind.REBOOT_NODE);
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", gpu)).isEqualTo("accepted");
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", ""))
                .isEqualTo("SelectorNotSupported: spec.selector: expected the UUID of each GPU in uuids, seen none");
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", gpu + ", \"pciBusIDs\": [\"0000:03:00.0\"]"))
                .isEqualTo("SelectorNotSupported: spec.selector: expected the UUID of each GPU in uuids, seen PCI"
                        + " addresses [0000:03:00.0]");
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "\"gpuwarden.dev/node-uid\": \"before\"", gpu))
                .isEqualTo(
                        "NodeReplaced: Node node-1: expected UID before, seen node-uid-1: the Node was created again");
        assertThat(refused(MaintenanceKind.REBOOT_NODE, "node-1", "", ""))
                .isEqualTo(
                        "AlreadyInProgress: expected one action at a time, seen RebootNode maintenance-r0 in progress");
        world.resources.clear();
        world.add(MaintenanceKind.GPU_RESET);
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", "\"uuids\": [\"GPU-b\", \"GPU-r1\"]"))
                .isEqualTo("AlreadyInProgress: expected one action at a time, seen GPUReset maintenance-r1 in progress"
                        + " for GPU-r1");
        world.cordoned = false;
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", gpu))
                .isEqualTo(
                        "NodeInService: Node node-1: expected a cordoned and drained Node, seen one without a cordon");
        world.node = false;
        assertThat(refused(MaintenanceKind.GPU_RESET, "node-1", "", gpu))
                .isEqualTo("NodeNotFound: expected a Node node-1, seen none");
        assertThat(refused(MaintenanceKind.TERMINATE_NODE, "node-1", "", "")).isEqualTo("accepted");
    }

    /** @param device name of its device; empty for a pod whose status names none */
    private static Map<String, Object> pod(String device, String owner, String namespace, String phase)
            throws IOException {
        String devices = device.isEmpty()
                ? ""
                : ", \"allocatedResourcesStatus\": [{\"name\": \"nvidia.com/gpu\", \"resources\": [{\"resourceID\": \""
                        + device + "\"}]}]";
        return Json.readObject("""
                {"metadata": {"name": "pod", "namespace": "%s", "uid": "p",
                "ownerReferences": [{"kind": "%s", "name": "o", "uid": "o", "controller": true}]},
                "spec": {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]},
                "status": {"phase": "%s", "containerStatuses": [{"name": "main"%s}]}}
                """.formatted(namespace, owner, phase, devices));
    }

    /** @param device name of the pod's device; empty for a pod whose status names none */
    private boolean blocks(MaintenanceKind kind, String device, String owner, String namespace, String phase)
            throws IOException {
        Map<String, Object> pod = pod(device, owner, namespace, phase);
        Scene facts = world.scene(world.add(kind), false);
        Verdict verdict = Acceptance.of(facts.with(List.of(Scene.NodePod.of(pod))));
        world.resources.clear();
        if (verdict instanceof Verdict.Refused refused) {
            assertThat(refused)
                    .isEqualTo(new Verdict.Refused(
                            "NodeNotDrained",
                            "Node node-1: expected no pods"
                                    + (kind == MaintenanceKind.GPU_RESET ? " with these GPUs" : "") + ", seen "
                                    + namespace + "/pod"));
        }
        return verdict instanceof Verdict.Refused;
    }

    @ParameterizedTest(name = "{0}, device {1}")
    @CsvSource({
        "GPU_RESET, %, Job, team, Running, true",
        "GPU_RESET, '', Job, team, Running, true",
        "GPU_RESET, %::1, Job, team, Running, true",
        "GPU_RESET, gpu.nvidia.com/node/%, Job, team, Running, true",
        "GPU_RESET, MIG-7, Job, team, Running, true",
        "GPU_RESET, GPU-other, Job, team, Running, false",
        "GPU_RESET, %, DaemonSet, team, Running, true",
        "GPU_RESET, GPU-other, DaemonSet, team, Running, false",
        "GPU_RESET, %, Job, kube-system, Running, true",
        "GPU_RESET, %, Node, kube-system, Running, true",
        "GPU_RESET, %, Job, team, Succeeded, false",
        "REBOOT_NODE, GPU-other, Job, team, Running, true",
        "REBOOT_NODE, GPU-other, DaemonSet, team, Running, true",
    })
    void podThatADrainWouldEndOrThatHoldsAGpuIsNamed(
            MaintenanceKind kind, String device, String owner, String namespace, String phase, boolean blocks)
            throws Exception {
        // The world gives its first resource the GPU of this name.
        assertThat(blocks(kind, device.replace("%", "GPU-r0"), owner, namespace, phase))
                .isEqualTo(blocks);
    }
}
