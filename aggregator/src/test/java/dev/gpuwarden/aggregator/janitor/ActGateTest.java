package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pods of a drained node that withhold an act. AcceptanceTest has those of a node that an operator has drained. */
class ActGateTest {

    private static final Instant DRAINED = Instant.parse("2026-06-01T00:00:10Z");

    private static DrainAnnotation drain(boolean full) {
        Instant began = DRAINED.minusSeconds(5);
        return new DrainAnnotation(
                full ? Optional.of(began) : Optional.empty(),
                full ? new TreeMap<>() : new TreeMap<>(Map.of("GPU-r0", began)),
                full ? Set.of() : Set.of("GPU-r0"),
                false,
                "",
                Optional.of(DRAINED),
                0,
                false,
                List.of(),
                Optional.empty());
    }

    private static NodePod pod(String device, int created, boolean gpu, boolean service) throws Exception {
        String devices = device.isEmpty()
                ? ""
                : ", \"allocatedResourcesStatus\": [{\"name\": \"nvidia.com/gpu\", \"resources\": [{\"resourceID\": \""
                        + device + "\"}]}]";
        return NodePod.of(Json.readObject("""
                {"metadata": {"name": "pod", "namespace": "team", "uid": "p", "creationTimestamp": "2026-06-01T00:00:%02dZ"},
                "spec": {"nodeSelector": {%s}, "containers": [{"name": "main", "resources": {"limits": {"%s": "1"}}}]},
                "status": {"phase": "Running", "containerStatuses": [{"name": "main"%s}]}}
                """.formatted(
                        created,
                        service ? "\"nvidia.com/gpu.deploy.dcgm\": \"true\"" : "",
                        gpu ? "nvidia.com/gpu" : "cpu",
                        devices)));
    }

    @ParameterizedTest(name = "{0}, drained fully: {1}, device {2}, created at {3}")
    @CsvSource({
        "GPU_RESET, false, GPU-r0, 1, true, false, NodeNotDrained",
        "GPU_RESET, false, GPU-other, 30, true, false, ''",
        "GPU_RESET, false, '', 1, true, false, ''",
        "GPU_RESET, false, '', 30, true, false, NodeNotDrained",
        "GPU_RESET, false, MIG-7, 1, true, false, ''",
        "GPU_RESET, false, MIG-7, 30, true, false, NodeNotDrained",
        "GPU_RESET, true, '', 1, false, false, ''",
        "REBOOT_NODE, true, GPU-other, 1, true, false, NodeNotDrained",
        "REBOOT_NODE, true, '', 30, false, false, ''",
        "REBOOT_NODE, true, '', 30, true, true, NodeNotDrained",
        "REBOOT_NODE, true, '', 30, false, true, ''",
        "REBOOT_NODE, false, '', 1, false, false, NodeNotDrained",
    })
    void podThatHoldsAGpuWithholdsTheStart(
            MaintenanceKind kind, boolean full, String device, int created, boolean gpu, boolean service, String reason)
            throws Exception {
        StepBench bench = new StepBench(kind, RebootProvider.JOB);
        bench.goUntilJob();
        Scene scene = bench.world.scene(bench.resource, false);
        NodeFacts node = scene.node().orElseThrow();
        Scene drained = new Scene(
                scene.resource(),
                Optional.of(new NodeFacts(
                        node.uid(),
                        node.version(),
                        node.unschedulable(),
                        node.labels(),
                        Optional.of(drain(full)),
                        node.bootId(),
                        node.ready())),
                scene.lock(),
                scene.job(),
                Optional.of(List.of(pod(device, created, gpu, service))),
                scene.ahead(),
                scene.gpus(),
                scene.settings(),
                scene.now(),
                scene.source());
        Step step = Steps.next(drained);
        if (reason.isEmpty()) {
            assertThat(step).isInstanceOf(Step.StartJob.class);
        } else {
            assertThat(((Step.SetStatus) step).change().tree().toString()).contains("reason=" + reason, "team/pod");
        }
    }
}
