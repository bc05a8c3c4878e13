package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.Progress.Service;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.janitor.Step.SetLabels.Label;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The steps of a GPUReset: services down, Job, services up. The services are restored after every end, and the first failure is
 * the result. Pure.
 */
final class ResetSteps {

    private ResetSteps() {}

    /** @param refusal reason why nothing may be done to the Node now; empty if it may */
    static Step next(Scene scene, Optional<Step.End> refusal) {
        Progress progress = scene.progress();
        if (!progress.isRecorded()) {
            return begin(scene);
        }
        if (isOver(progress)) {
            return RestoreSteps.next(scene);
        }
        Optional<Step.End> lost = scene.lost();
        if (lost.isPresent() && progress.job().isEmpty()) {
            return RestoreSteps.ended(scene, scene.change(), lost.get());
        }
        Step step = progress.job().isPresent() || scene.job().isPresent() ? job(scene, refusal) : down(scene, refusal);
        return step instanceof Step.End end ? RestoreSteps.completed(scene, end) : step;
    }

    /** Returns true once the reset is over, or will not begin, so that the services return. */
    private static boolean isOver(Progress progress) {
        return progress.condition(RestoreSteps.COMPLETED).isPresent()
                || progress.condition(RestoreSteps.TORN_DOWN)
                        .filter(each -> each.reason().endsWith("Exceeded"))
                        .isPresent();
    }

    // ---- services down ----

    private static Step begin(Scene scene) {
        List<Service> services = services(scene);
        if (scene.pods().isEmpty() && !services.isEmpty()) {
            return new Step.ReadPods();
        }
        Progress.Change change = scene.begun()
                .set("uuids", scene.resource().uuids())
                .set("services", services.stream().map(Service::tree).toList())
                .condition("Ready", true, "ReadyForReset", "the node is cordoned and drained, and has the lock");
        return new Step.SetStatus(
                services.isEmpty()
                        ? change.condition(
                                RestoreSteps.TORN_DOWN,
                                true,
                                RestoreSteps.SKIPPED,
                                "the Node has no services of the GPU Operator")
                        : change.condition(
                                RestoreSteps.TORN_DOWN,
                                false,
                                "TearingDownServices",
                                "the services of the GPU Operator are stopped"));
    }

    /**
     * Returns the services that the Node has now. Only the value `true` deploys one. A label that an earlier reset left behind
     * had that value.
     */
    private static List<Service> services(Scene scene) {
        NodeFacts node = scene.node().orElseThrow();
        return ServiceLabels.LABELS.stream()
                .filter(label -> List.of(ServiceLabels.DEPLOYED, MaintenanceKind.PAUSED)
                        .contains(node.labels().getOrDefault(label, "")))
                .map(label -> new Service(label, ServiceLabels.DEPLOYED, pods(scene, label)))
                .toList();
    }

    private static int pods(Scene scene, String label) {
        return (int) scene.pods().orElse(List.of()).stream()
                .filter(pod -> pod.pod().services().contains(label) && pod.ready())
                .count();
    }

    private static Step down(Scene scene, Optional<Step.End> refusal) {
        Progress progress = scene.progress();
        if (progress.condition(RestoreSteps.TORN_DOWN).isEmpty()) {
            return Step.End.failed(NotTried.STATUS_NOT_KEPT, scene.resource().notKept(RestoreSteps.TORN_DOWN));
        }
        if (refusal.isPresent()) {
            return refusal.get();
        }
        if (progress.isTrue(RestoreSteps.TORN_DOWN)) {
            return new Step.CreateJob();
        }
        NodeFacts node = scene.sameNode().orElseThrow();
        List<Label> up = progress.services().stream()
                .filter(each -> each.value().equals(node.labels().get(each.label())))
                .map(each -> new Label(each.label(), each.value(), MaintenanceKind.PAUSED))
                .toList();
        if (!up.isEmpty()) {
            return node.set(up);
        }
        return scene.pods().isEmpty() ? new Step.ReadPods() : tornDown(scene);
    }

    /** Awaits the end of the services' pods. */
    private static Step tornDown(Scene scene) {
        List<String> left = scene.pods().orElseThrow().stream()
                .filter(pod -> !pod.pod().ended())
                .filter(pod -> serves(pod, scene.progress()))
                .map(pod -> pod.pod().path())
                .sorted()
                .toList();
        if (left.isEmpty()) {
            return new Step.SetStatus(scene.change()
                    .condition(RestoreSteps.TORN_DOWN, true, "ServiceTeardownSucceeded", "their pods have ended"));
        }
        Instant begin = scene.progress().started().orElseThrow();
        Instant end = begin.plus(scene.settings().times().teardown());
        return scene.now().isBefore(end)
                ? scene.again(begin, end)
                : RestoreSteps.restoring(
                        scene,
                        scene.change()
                                .condition(
                                        RestoreSteps.TORN_DOWN,
                                        false,
                                        "ServiceTeardownTimeoutExceeded",
                                        "Node " + scene.resource().node()
                                                + ": expected the operator's pods to end by " + end + ", seen "
                                                + Acceptance.names(left)));
    }

    private static boolean serves(NodePod pod, Progress progress) {
        return progress.services().stream()
                .anyMatch(each -> pod.pod().services().contains(each.label()));
    }

    // ---- the Job ----

    private static Step job(Scene scene, Optional<Step.End> refusal) {
        Progress progress = scene.progress();
        String name = "Job " + scene.resource().jobName();
        if (progress.job().isEmpty()) {
            return new Step.SetStatus(scene.change()
                    .set("jobRef", scene.ref(scene.job().orElseThrow()).tree())
                    .condition("ResetJobCreated", true, "ResetJobRunning", name + " resets the GPUs"));
        }
        String uid = progress.job().get().uid();
        if (scene.job().filter(job -> job.uid().equals(uid)).isEmpty()) {
            return Step.End.failed(
                    "ResetJobNotFound",
                    name + ": expected UID " + uid + ", seen "
                            + scene.job().map(JobFacts::uid).orElse("none"));
        }
        JobFacts job = scene.job().get();
        if (job.succeeded().isPresent()) {
            return job.succeeded().get()
                    ? new Step.End(true, "ResetJobSucceeded", name + " has reset and verified the GPUs")
                    : Step.End.failed(
                            job.withheld() || job.unusable() ? NotTried.REFUSED_ON_NODE : "ResetJobFailed",
                            name + ": expected a reset and verified GPU, seen " + job.message());
        }
        if (job.interrupted()) {
            return Step.End.failed(NotTried.JOB_SUSPENDED, scene.resource().interruption());
        }
        if (job.waits()) {
            return refusal.<Step>map(end -> end).orElseGet(() -> new Step.StartJob(scene.ref(job), job.version()));
        }
        if (refusal.isPresent() && scene.pods().isEmpty()) {
            return new Step.ReadPods();
        }
        if (refusal.isPresent() && !scene.mayHaveBegun()) {
            return refusal.get();
        }
        Instant end = scene.limit(job);
        return scene.now().isBefore(end)
                ? scene.again(job.begun(), end)
                : Step.End.failed("ResetJobTimeout", name + ": expected its end by " + end + ", seen it running");
    }
}
