package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.ActGate.Refusal;
import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.janitor.Progress.Service;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.janitor.Step.SetLabels.Label;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The steps of a GPUReset: services down, Job, services up. The services are restored after every end, and the first failure is
 * the result. Pure.
 */
final class ResetSteps {

    static final String PAUSED = MaintenanceKind.PAUSED;

    private static final String DEPLOYED = ServiceLabels.DEPLOYED;
    static final String TORN_DOWN = "ServicesTornDown";
    private static final String CREATED = "ResetJobCreated";
    static final String COMPLETED = "ResetJobCompleted";
    static final String RESTORED = "ServicesRestored";
    private static final String DONE = "Complete";
    private static final String SKIPPED = "Skipped";
    private static final String NOTHING = "no GPU was reset";

    /** The time beyond the Job's own limit after which it is stopped from here. */
    private static final Duration JOB_SLACK = Duration.ofMinutes(1);

    private ResetSteps() {}

    static Progress.Change start(Progress.Change change, Scene scene) {
        List<Service> services = services(scene);
        change.set("uuids", scene.resource().uuids())
                .set("services", services.stream().map(Service::tree).toList())
                .condition("Ready", true, "ReadyForReset", "the node is cordoned and drained, and has the lock");
        return services.isEmpty()
                ? change.condition(TORN_DOWN, true, SKIPPED, "the Node has no services of the GPU Operator")
                : change.condition(
                        TORN_DOWN, false, "TearingDownServices", "the services of the GPU Operator are stopped");
    }

    /**
     * Returns the services that the Node has now. Only the value `true` deploys one. A label that an earlier reset left behind
     * had that value.
     */
    private static List<Service> services(Scene scene) {
        NodeFacts node = scene.node().orElseThrow();
        return ServiceLabels.LABELS.stream()
                .filter(label ->
                        List.of(DEPLOYED, PAUSED).contains(node.labels().getOrDefault(label, "")))
                .map(label -> new Service(label, DEPLOYED, pods(scene, label)))
                .toList();
    }

    private static int pods(Scene scene, String label) {
        return (int) scene.pods().orElse(List.of()).stream()
                .filter(pod -> pod.pod().services().contains(label) && pod.ready())
                .count();
    }

    /** Returns true if the pods of the node must be read before the start. */
    static boolean needsPods(Scene scene) {
        return scene.pods().isEmpty() && !services(scene).isEmpty();
    }

    static Step next(Scene scene) {
        Progress progress = scene.progress();
        boolean over = isOver(progress);
        Optional<JobRef> open = Jobs.open(scene);
        if (over && open.isPresent()) {
            return new Step.StopJob(open.get());
        }
        Optional<String> lost = Steps.lost(scene);
        if (lost.isPresent() && !over && progress.job().isEmpty()) {
            return end(scene, scene.change(), false, lostReason(scene), lost.get());
        }
        if (over) {
            return RestoreSteps.next(scene);
        }
        if (progress.job().isPresent() || scene.job().isPresent()) {
            return job(scene);
        }
        if (progress.condition(TORN_DOWN).isEmpty()) {
            return refused(scene, new Refusal(NotTried.STATUS_NOT_KEPT, Steps.notKept(scene.resource(), TORN_DOWN)));
        }
        return progress.isTrue(TORN_DOWN) ? create(scene) : tearDown(scene);
    }

    /** Returns true once the reset is over, or will not begin, so that the services return. */
    private static boolean isOver(Progress progress) {
        return progress.condition(COMPLETED).isPresent()
                || progress.condition(TORN_DOWN)
                        .filter(each -> each.reason().endsWith("Exceeded"))
                        .isPresent();
    }

    static String lostReason(Scene scene) {
        return scene.node().isEmpty() ? "NodeNotFound" : "NodeReplaced";
    }

    // ---- services down ----

    private static Step tearDown(Scene scene) {
        Optional<Refusal> refusal = ActGate.refusal(scene, NOTHING);
        if (refusal.isPresent()) {
            return refused(scene, refusal.get());
        }
        NodeFacts node = scene.sameNode().orElseThrow();
        List<Label> up = scene.progress().services().stream()
                .filter(each -> each.value().equals(node.labels().get(each.label())))
                .map(each -> new Label(each.label(), each.value(), PAUSED))
                .toList();
        if (!up.isEmpty()) {
            return ActGate.pass(scene, NOTHING, new Step.SetLabels(node, up), each -> refused(scene, each));
        }
        if (scene.pods().isEmpty()) {
            return new Step.ReadPods();
        }
        List<String> left = scene.pods().get().stream()
                .filter(pod -> !pod.pod().ended())
                .filter(pod -> serves(pod, scene.progress()))
                .map(pod -> pod.pod().path())
                .sorted()
                .toList();
        if (left.isEmpty()) {
            return new Step.SetStatus(
                    scene.change().condition(TORN_DOWN, true, "ServiceTeardownSucceeded", "their pods have ended"));
        }
        Instant begin = scene.progress().started().orElseThrow();
        Instant end = begin.plus(scene.settings().times().teardown());
        return scene.now().isBefore(end)
                ? Step.Wait.again(scene, begin, end)
                : new Step.SetStatus(RestoreSteps.restoring(
                        scene,
                        scene.change()
                                .condition(
                                        TORN_DOWN,
                                        false,
                                        "ServiceTeardownTimeoutExceeded",
                                        "Node " + scene.resource().node()
                                                + ": expected the operator's pods to end by " + end + ", seen "
                                                + Acceptance.names(left))));
    }

    private static boolean serves(NodePod pod, Progress progress) {
        return progress.services().stream()
                .anyMatch(each -> pod.pod().services().contains(each.label()));
    }

    // ---- the Job ----

    private static Step create(Scene scene) {
        return ActGate.refusal(scene, NOTHING)
                .map(refusal -> refused(scene, refusal))
                .orElseGet(Step.CreateJob::new);
    }

    private static Step job(Scene scene) {
        Progress progress = scene.progress();
        String name = "Job " + Jobs.name(scene.resource());
        Optional<JobFacts> job = scene.job();
        if (progress.job().isEmpty()) {
            return new Step.SetStatus(scene.change()
                    .set("jobRef", Jobs.ref(scene, job.orElseThrow()).tree())
                    .condition(CREATED, true, "ResetJobRunning", name + " resets the GPUs"));
        }
        if (job.isEmpty() || !job.get().uid().equals(progress.job().get().uid())) {
            return completed(
                    scene,
                    false,
                    "ResetJobNotFound",
                    name + ": expected UID " + progress.job().get().uid() + ", seen "
                            + job.map(JobFacts::uid).orElse("none"));
        }
        if (job.get().succeeded().isPresent()) {
            boolean success = job.get().succeeded().get();
            String failed = job.get().withheld() || job.get().unusable() ? NotTried.REFUSED_ON_NODE : "ResetJobFailed";
            return completed(
                    scene,
                    success,
                    success ? "ResetJobSucceeded" : failed,
                    success
                            ? name + " has reset and verified the GPUs"
                            : name + ": expected a reset and verified GPU, seen "
                                    + job.get().message());
        }
        if (job.get().interrupted()) {
            return completed(scene, false, NotTried.JOB_SUSPENDED, JobSignal.interrupted(scene));
        }
        if (job.get().waits()) {
            Step start = new Step.StartJob(Jobs.ref(scene, job.get()), job.get().version());
            return ActGate.pass(scene, NOTHING, start, each -> refused(scene, each));
        }
        Optional<Refusal> refusal = ActGate.refusal(scene, NOTHING);
        if (refusal.isPresent() && scene.pods().isEmpty()) {
            return new Step.ReadPods();
        }
        if (refusal.isPresent() && !ActGate.mayHaveBegun(scene)) {
            return refused(scene, refusal.get());
        }
        Instant end = end(scene.settings(), job.get());
        return scene.now().isBefore(end)
                ? again(scene, job.get())
                : completed(
                        scene, false, "ResetJobTimeout", name + ": expected its end by " + end + ", seen it running");
    }

    /** Returns the wait before a Job that runs is read again. */
    static Step again(Scene scene, JobFacts job) {
        return Step.Wait.again(scene, job.begun(), end(scene.settings(), job));
    }

    /** Returns the time after which a Job that was started is stopped. */
    static Instant end(JanitorSettings settings, JobFacts job) {
        return job.begun().plus(settings.times().job()).plus(JOB_SLACK);
    }

    /** Ends the action before a GPU was reset. Stored before the services return, since the facts may change again while they do. */
    private static Step refused(Scene scene, Refusal refusal) {
        return completed(scene, false, refusal.reason(), refusal.message());
    }

    private static Step completed(Scene scene, boolean success, String reason, String message) {
        Progress.Change change = scene.change().condition(COMPLETED, success, reason, message);
        // The end comes after the stop of a Job, because a late write of a replaced leader could still start it.
        return scene.progress().services().isEmpty() && Jobs.open(scene).isEmpty()
                ? end(scene, change, success, reason, message)
                : new Step.SetStatus(RestoreSteps.restoring(scene, change));
    }

    static Step end(Scene scene, Progress.Change change, boolean success, String reason, String message) {
        if (scene.progress().services().isEmpty()) {
            change.condition(RESTORED, true, SKIPPED, "the Node has no services of the GPU Operator");
        }
        return new Step.SetStatus(Steps.cancelled(change, scene)
                .complete(
                        DONE,
                        success,
                        success ? "ResetSucceeded" : reason,
                        success
                                ? "reset and verified: "
                                        + String.join(", ", scene.resource().uuids())
                                : message));
    }
}
