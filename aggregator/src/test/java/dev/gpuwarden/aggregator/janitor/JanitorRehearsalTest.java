package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Result;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Walked;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Write;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JanitorRehearsalTest {

    private static final String DCGM = "nvidia.com/gpu.deploy.dcgm";

    private final JanitorWorld world = new JanitorWorld();

    private static final Map<String, Object> SERVICE = Map.of(
            "metadata",
            Map.of(
                    "name",
                    "dcgm-1",
                    "namespace",
                    "gpu-operator",
                    "uid",
                    "p-1",
                    "ownerReferences",
                    List.of(Map.of("kind", "DaemonSet", "name", "d", "uid", "d", "controller", true))),
            "spec",
            Map.of("nodeName", JanitorWorld.NODE, "nodeSelector", Map.of(DCGM, "true")),
            "status",
            Map.of("conditions", List.of(Map.of("type", "Ready", "status", "True"))));

    private JanitorWalk walk(MaintenanceKind kind, Lock lock, RebootProvider reboot) {
        WorldResource resource = world.add(kind);
        Scene scene = world.scene(resource, false);
        JanitorSettings usual = JanitorWorld.SETTINGS;
        return new JanitorRehearsal(
                        resource.read(),
                        scene.node().orElseThrow(),
                        lock,
                        scene.ahead(),
                        List.of(SERVICE),
                        scene.gpus(),
                        new JanitorSettings(
                                usual.namespace(),
                                usual.lockNamespace(),
                                usual.image(),
                                reboot,
                                Optional.empty(),
                                usual.system(),
                                usual.times()),
                        world.now)
                .walk();
    }

    private static List<String> texts(JanitorWalk walk) {
        return walk.steps().stream().map(Walked::text).toList();
    }

    @Test
    void resetStopsServicesRunsAJobAndStartsThemAgain() {
        world.labels.put(DCGM, "true");
        JanitorWalk walk = walk(MaintenanceKind.GPU_RESET, Lock.FREE, RebootProvider.JOB);
        assertThat(texts(walk))
                .containsExactly(
                        "add the finalizer gpuwarden.dev/janitor to GPUReset maintenance-r0",
                        "lock the node: create Lease gpuwarden/node-1",
                        "stop the services of the GPU Operator: label " + DCGM + "=paused-for-gpu-reset",
                        "create Job gpuwarden/gpu-reset-r0, suspended",
                        "start it: it resets and verifies GPU-r0",
                        "start them again: label " + DCGM + "=true",
                        "unlock the node: delete its Lease",
                        "remove the finalizer; the resource is kept for 336 h");
        assertThat(walk.result()).isEqualTo(Result.SUCCEEDS);
        assertThat(walk.why()).isEqualTo("ResetSucceeded: reset and verified: GPU-r0");
        assertThat(walk.steps().stream().map(Walked::most))
                .contains(Optional.of(Duration.ofMinutes(5)), Optional.of(Duration.ofMinutes(10)));
        assertThat(walk.steps().stream().map(Walked::write).filter(write -> !(write instanceof Write.None)))
                .extracting(write -> write.getClass().getSimpleName())
                .containsExactly("Create", "PatchNode", "Create");
    }

    @Test
    void rebootNeedsABootIdAndMayBeMadeByAnotherProgramOrAProvider() {
        JanitorWalk job = walk(MaintenanceKind.REBOOT_NODE, Lock.FREE, RebootProvider.JOB);
        assertThat(job.result()).isEqualTo(Result.SUCCEEDS);
        assertThat(texts(job)).contains("create Job gpuwarden/reboot-r0, suspended");

        world.resources.clear();
        JanitorWalk external = walk(MaintenanceKind.REBOOT_NODE, Lock.FREE, RebootProvider.EXTERNAL);
        assertThat(external.result()).isEqualTo(Result.SUCCEEDS);
        assertThat(texts(external))
                .contains("another program reboots the node, and the Node is ready with another boot ID")
                .noneMatch(text -> text.contains("Job"));

        world.resources.clear();
        JanitorWalk provider = walk(MaintenanceKind.REBOOT_NODE, Lock.FREE, RebootProvider.PROVIDER);
        assertThat(provider.result()).isEqualTo(Result.SUCCEEDS);
        assertThat(texts(provider))
                .contains(
                        "ask the provider for the reboot of Node node-1",
                        "the provider reboots the node, and the Node is ready with another boot ID")
                .noneMatch(text -> text.contains("Job"));

        world.resources.clear();
        world.bootId = "";
        JanitorWalk unbooted = walk(MaintenanceKind.REBOOT_NODE, Lock.FREE, RebootProvider.JOB);
        assertThat(unbooted.result()).isEqualTo(Result.FAILS);
        assertThat(unbooted.why()).startsWith("BootIDUnknown: ");
    }

    @Test
    void otherHolderOfTheLockAndAnOlderResourceAreAwaited() {
        Lock foreign = new Lock(Lock.State.FOREIGN, "l", "Pod x, an owner of another program");
        assertThat(walk(MaintenanceKind.REBOOT_NODE, foreign, RebootProvider.JOB))
                .isEqualTo(new JanitorWalk(
                        List.of(),
                        Result.FAILS,
                        "the lock of Node node-1 is held by Pod x, an owner of another program"));

        JanitorWalk second = walk(MaintenanceKind.GPU_RESET, Lock.FREE, RebootProvider.JOB);
        assertThat(second.result()).isEqualTo(Result.WAITS);
        assertThat(second.why()).isEqualTo("waits for the lock of Node node-1, which RebootNode maintenance-r0 has");
    }

    @Test
    void nodeInServiceIsRefused() {
        world.cordoned = false;
        JanitorWalk walk = walk(MaintenanceKind.GPU_RESET, Lock.FREE, RebootProvider.JOB);
        assertThat(walk.result()).isEqualTo(Result.FAILS);
        assertThat(walk.why()).startsWith("NodeInService: ");
        assertThat(walk.steps()).isEmpty();
    }

    @Test
    void aGpuThatTheNodeDoesNotHaveIsRefused() {
        world.gpus = TestGpus.units(List.of("GPU-a"));
        JanitorWalk walk = walk(MaintenanceKind.GPU_RESET, Lock.FREE, RebootProvider.JOB);
        assertThat(walk.result()).isEqualTo(Result.FAILS);
        assertThat(walk.why()).startsWith("GPUNotOnNode: ");
        assertThat(walk.steps()).isEmpty();
    }
}
