package dev.gpuwarden.aggregator.janitor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Each failure of each step: its condition names what was expected and what was seen, the services return, nothing stays locked,
 * and nothing is done twice. JanitorClusterTest has those whose facts an API server makes.
 */
class StepFailuresTest {

    private static final String PAUSED = "paused-for-gpu-reset";

    private static Arguments reset(String reason, String message, int starts, Consumer<StepBench> middle) {
        return arguments(reason, message, starts, MaintenanceKind.GPU_RESET, RebootProvider.JOB, middle);
    }

    private static Arguments reboot(
            RebootProvider way, String reason, String message, int starts, Consumer<StepBench> middle) {
        return arguments(reason, message, starts, MaintenanceKind.REBOOT_NODE, way, middle);
    }

    private static Arguments terminate(
            RebootProvider way, String reason, String message, int starts, Consumer<StepBench> middle) {
        return arguments(reason, message, starts, MaintenanceKind.TERMINATE_NODE, way, middle);
    }

    static Stream<Arguments> failures() {
        String inService = "Node node-1: expected a cordoned Node, seen one without a cordon";
        String recreated = "Node node-1: expected UID node-uid-1, seen node-uid-2: it was created again";
        String deletedNode = "expected the Node node-1, seen none: it was deleted in the middle";
        String changed = "maintenance-r0: expected the spec of generation 1, seen 2";
        String deleted = "maintenance-r0 was deleted in the middle";
        String stolen = "Node node-1: expected its lock to be held by GPUReset maintenance-r0, seen Deployment other,"
                + " an owner of another program: no GPU was reset";
        String stolenReboot = stolen.replace("GPUReset", "RebootNode").replace("GPU was reset", "reboot was requested");
        String suspended =
                ": expected it to run once, seen it suspended after its start by another controller: its pod may"
                        + " have acted, so it is not started again";
        return Stream.of(
                reset("LockLost", stolen, 0, bench -> {
                    bench.goUntilJob();
                    bench.world.steal();
                }),
                reset("LockLost", stolen, 0, bench -> {
                    bench.operates = false;
                    bench.go();
                    bench.operates = true;
                    bench.world.steal();
                }),
                reset("LockLost", stolen, 1, bench -> {
                    bench.go();
                    bench.world.steal();
                }),
                reset("NodeInService", inService, 0, bench -> {
                    bench.operates = false;
                    bench.go();
                    bench.operates = true;
                    bench.world.cordoned = false;
                }),
                reset("NodeInService", inService, 1, bench -> {
                    bench.go();
                    bench.world.cordoned = false;
                }),
                reset(
                        "NodeNotDrained",
                        "Node node-1: expected no pods with these GPUs just before the act, seen team/tenant-0",
                        0,
                        bench -> {
                            bench.goUntilJob();
                            bench.world.tenants = 1;
                        }),
                reset("JobSuspended", "Job gpu-reset-r0" + suspended, 1, bench -> {
                    bench.go();
                    bench.suspendJob();
                }),
                reset(
                        "RefusedOnNode",
                        "Job gpu-reset-r0: expected a reset and verified GPU, seen withheld: x",
                        1,
                        bench -> {
                            bench.go();
                            bench.endJob(4, "withheld: x");
                        }),
                reset(
                        "RefusedOnNode",
                        "Job gpu-reset-r0: expected a reset and verified GPU, seen no such GPU",
                        1,
                        bench -> {
                            bench.go();
                            bench.endJob(2, "no such GPU");
                        }),
                reboot(RebootProvider.JOB, "LockLost", stolenReboot, 0, bench -> {
                    bench.goUntilJob();
                    bench.world.steal();
                }),
                reboot(RebootProvider.JOB, "NodeInService", inService, 1, bench -> {
                    bench.go();
                    bench.world.cordoned = false;
                }),
                reboot(
                        RebootProvider.JOB,
                        "NodeNotDrained",
                        "Node node-1: expected no pods just before the act, seen team/tenant-0",
                        0,
                        bench -> {
                            bench.goUntilJob();
                            bench.world.tenants = 1;
                        }),
                reboot(RebootProvider.PROVIDER, "LockLost", stolenReboot, 0, bench -> {
                    while (!(bench.next() instanceof Step.Request)) {
                        bench.world.write(bench.resource, bench.next(), bench.resource.version);
                    }
                    bench.world.steal();
                }),
                reboot(
                        RebootProvider.COMMAND,
                        "JobSuspended",
                        "Node node-1: expected another boot ID by 2026-06-01T00:30:00Z, seen still boot-1",
                        1,
                        bench -> {
                            bench.go();
                            bench.suspendJob();
                            bench.go();
                            bench.pass(Duration.ofMinutes(30));
                        }),
                reset("NodeInService", inService, 0, bench -> {
                    bench.goUntilJob();
                    bench.world.cordoned = false;
                }),
                reset("NodeReplaced", recreated, 0, bench -> {
                    bench.goUntilJob();
                    bench.recreateNode();
                }),
                reset("NodeNotFound", deletedNode, 0, bench -> {
                    bench.goUntilJob();
                    bench.world.node = false;
                }),
                reset("Cancelled", "GPUReset " + changed + ": no GPU was reset", 0, bench -> {
                    bench.goUntilJob();
                    bench.world.changeSpec(bench.resource);
                }),
                reset(
                        "ServiceTeardownTimeoutExceeded",
                        "Node node-1: expected the operator's pods to end by 2026-06-01T00:05:00Z, seen"
                                + " gpu-operator/pod-0, gpu-operator/pod-1, gpu-operator/pod-2, gpu-operator/pod-3",
                        0,
                        bench -> {
                            bench.operates = false;
                            bench.go();
                            bench.pass(Duration.ofMinutes(5));
                        }),
                reset(
                        "ResetJobTimeout",
                        "Job gpu-reset-r0: expected its end by 2026-06-01T00:11:00Z, seen it running",
                        1,
                        bench -> {
                            bench.go();
                            bench.pass(Duration.ofMinutes(11));
                        }),
                reset("ResetJobNotFound", "Job gpu-reset-r0: expected UID job-2, seen none", 1, bench -> {
                    bench.go();
                    bench.resource.job = Optional.empty();
                }),
                reset(
                        "ResetJobFailed",
                        "Job gpu-reset-r0: expected a reset and verified GPU, seen failed",
                        1,
                        bench -> {
                            bench.go();
                            bench.endJob(false);
                        }),
                reset("NodeReplaced", recreated, 1, bench -> {
                    bench.go();
                    bench.endJob(true);
                    bench.recreateNode();
                }),
                reset(
                        "RestoreTimeoutExceeded",
                        "Node node-1: expected ready pods of nvidia.com/gpu.deploy.device-plugin,"
                                + " nvidia.com/gpu.deploy.dcgm, nvidia.com/gpu.deploy.dcgm-exporter,"
                                + " nvidia.com/gpu.deploy.gpu-feature-discovery by 2026-06-01T00:10:00Z, seen none",
                        1,
                        bench -> {
                            bench.go();
                            bench.operates = false;
                            bench.endJob(true);
                            bench.go();
                            bench.pass(Duration.ofMinutes(10));
                        }),
                reboot(RebootProvider.JOB, "NodeInService", inService, 0, bench -> {
                    bench.goUntilJob();
                    bench.world.cordoned = false;
                }),
                reboot(
                        RebootProvider.JOB,
                        "Cancelled",
                        "RebootNode " + changed + ": no reboot was requested",
                        0,
                        bench -> {
                            bench.goUntilJob();
                            bench.world.changeSpec(bench.resource);
                        }),
                reboot(RebootProvider.JOB, "NodeReplaced", recreated, 1, bench -> {
                    bench.go();
                    bench.recreateNode();
                }),
                reboot(RebootProvider.JOB, "NodeNotFound", deletedNode, 1, bench -> {
                    bench.go();
                    bench.world.node = false;
                }),
                reboot(
                        RebootProvider.COMMAND,
                        "RebootRefused",
                        "Job reboot-r0: expected a reboot, seen failed",
                        1,
                        bench -> {
                            bench.go();
                            bench.endJob(false);
                        }),
                reboot(
                        RebootProvider.COMMAND,
                        "Timeout",
                        "Node node-1: expected another boot ID by 2026-06-01T00:30:00Z, seen still boot-1; no evidence"
                                + " was kept, because no Job ran on the node",
                        1,
                        bench -> {
                            bench.go();
                            bench.endJob(true);
                            bench.pass(Duration.ofMinutes(30));
                        }),
                reboot(
                        RebootProvider.EXTERNAL,
                        "Cancelled",
                        "RebootNode " + deleted + ": no other boot was seen",
                        0,
                        bench -> {
                            bench.go();
                            bench.world.delete(bench.resource);
                        }),
                reboot(
                        RebootProvider.PROVIDER,
                        "ProviderUnreachable",
                        "expected a connection to the provider by 2026-06-01T00:30:00Z, seen none: nothing was"
                                + " requested",
                        0,
                        bench -> {
                            while (!(bench.next() instanceof Step.Request)) {
                                bench.world.write(bench.resource, bench.next(), bench.resource.version);
                            }
                            bench.pass(Duration.ofMinutes(30));
                        }),
                terminate(
                        RebootProvider.COMMAND,
                        "TerminationRefused",
                        "Job terminate-r0: expected the request of the end of the node, seen failed",
                        1,
                        bench -> {
                            bench.go();
                            bench.endJob(false);
                        }),
                terminate(RebootProvider.COMMAND, "NodeInService", inService, 0, bench -> {
                    bench.goUntilJob();
                    bench.world.cordoned = false;
                }),
                terminate(
                        RebootProvider.COMMAND,
                        "Timeout",
                        "expected Node node-1 to be gone by 2026-06-01T01:00:00Z, seen it still there",
                        1,
                        bench -> {
                            bench.go();
                            bench.endJob(true);
                            bench.pass(Duration.ofHours(1));
                        }),
                terminate(
                        RebootProvider.JOB,
                        "Cancelled",
                        "TerminateNode " + deleted + ": Node node-1 is still there",
                        0,
                        bench -> {
                            bench.go();
                            bench.world.delete(bench.resource);
                        }));
    }

    @ParameterizedTest(name = "{3} {0}")
    @MethodSource("failures")
    void failureNamesWhatWasExpectedAndSeenAndAllIsUndone(
            String reason,
            String message,
            int starts,
            MaintenanceKind kind,
            RebootProvider way,
            Consumer<StepBench> middle) {
        StepBench bench = new StepBench(kind, way);
        middle.accept(bench);
        bench.go();
        Condition end = bench.condition(kind.doneCondition());
        assertThat(end.status() + " " + end.reason()).isEqualTo("False " + reason);
        assertThat(end.message()).startsWith(message);
        assertThat(bench.resource.starts).as("actions").isEqualTo(starts);
        assertThat(bench.resource.finalizers).isEmpty();
        assertThat(bench.world.holder()).as("lock").isEmpty();
        assertThat(bench.resource.job.filter(WorldResource.Job::runs)).as("Job").isEmpty();
        if (bench.world.node) {
            assertThat(bench.world.labels.values()).doesNotContain(PAUSED);
        }
    }
}
