package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.janitor.Progress.Service;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Step.SetLabels.Label;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The last steps of a GPUReset: the services up, and its end. The first failure is the result. Pure. */
final class RestoreSteps {

    static final String TORN_DOWN = "ServicesTornDown";
    static final String COMPLETED = "ResetJobCompleted";
    static final String SKIPPED = "Skipped";
    private static final String RESTORED = "ServicesRestored";

    private RestoreSteps() {}

    /** Returns the step that stores the result before the services return, since the facts may change again while they do. */
    static Step completed(Scene scene, Step.End end) {
        Progress.Change change = scene.change().condition(COMPLETED, end.success(), end.reason(), end.message());
        // The end comes after the stop of a Job, because a late write of a replaced leader could still start it.
        return scene.progress().services().isEmpty() && scene.openJob().isEmpty()
                ? ended(scene, change, end)
                : restoring(scene, change);
    }

    /** Returns the step that stores a change, and the condition of services that return from now on. */
    static Step restoring(Scene scene, Progress.Change change) {
        return new Step.SetStatus(
                scene.progress().services().isEmpty()
                        ? change
                        : change.condition(
                                RESTORED,
                                false,
                                "RestoringServices",
                                "the services of the GPU Operator are started again"));
    }

    /** Returns the step that ends the resource. */
    static Step ended(Scene scene, Progress.Change change, Step.End end) {
        if (scene.progress().services().isEmpty()) {
            change.condition(RESTORED, true, SKIPPED, "the Node has no services of the GPU Operator");
        }
        return scene.ended(
                change,
                end.success()
                        ? new Step.End(
                                true,
                                "ResetSucceeded",
                                "reset and verified: "
                                        + String.join(", ", scene.resource().uuids()))
                        : end);
    }

    /** Returns the result. Another program can write a success of its own, so the Job decides then. */
    private static Step.End result(Scene scene) {
        Optional<String> foreign = scene.resource().foreign();
        boolean completed = scene.progress().isTrue(COMPLETED);
        if (foreign.isPresent()
                && completed
                && scene.job()
                        .flatMap(JobFacts::succeeded)
                        .filter(success -> success)
                        .isEmpty()) {
            return Step.End.failed(NotTried.OTHER_JANITOR, foreign.get());
        }
        return scene.progress().conditions().stream()
                .filter(each -> each.type().equals(TORN_DOWN) || each.type().equals(COMPLETED))
                .filter(each -> !each.isTrue())
                .map(each -> Step.End.failed(each.reason(), each.message()))
                .reduce((first, last) -> last)
                .orElseGet(() -> completed
                        ? new Step.End(true, "", "")
                        : Step.End.failed(
                                NotTried.STATUS_NOT_KEPT, scene.resource().notKept(COMPLETED)));
    }

    static Step next(Scene scene) {
        Optional<JobRef> open = scene.openJob();
        if (open.isPresent()) {
            return new Step.StopJob(open.get());
        }
        Step.End result = result(scene);
        Optional<Step.End> lost = scene.lost();
        if (lost.isPresent()) {
            return ended(
                    scene,
                    scene.change()
                            .condition(
                                    RESTORED,
                                    false,
                                    lost.get().reason(),
                                    lost.get().message()),
                    result.success() ? lost.get() : result);
        }
        Optional<Step> start = start(scene);
        if (start.isPresent()) {
            return start.get();
        }
        if (scene.progress().services().isEmpty()) {
            return ended(scene, scene.change(), result);
        }
        return scene.pods().isEmpty() ? new Step.ReadPods() : returned(scene, result);
    }

    /** Returns the step that starts the stopped services again; empty if there are none, or the Node is another one. */
    static Optional<Step> start(Scene scene) {
        boolean recorded = scene.progress().isRecorded();
        Optional<NodeFacts> node = recorded ? scene.sameNode() : scene.node();
        if (node.isEmpty() || scene.resource().kind() != MaintenanceKind.GPU_RESET) {
            return Optional.empty();
        }
        // Without the record all services may be stopped. Only one value deploys a service.
        List<Service> services = recorded
                ? scene.progress().services()
                : ServiceLabels.LABELS.stream()
                        .map(label -> new Service(label, ServiceLabels.DEPLOYED, 0))
                        .toList();
        List<Label> down = services.stream()
                .filter(each ->
                        MaintenanceKind.PAUSED.equals(node.get().labels().get(each.label())))
                .map(each -> new Label(each.label(), MaintenanceKind.PAUSED, each.value()))
                .toList();
        return down.isEmpty() ? Optional.empty() : Optional.of(node.get().set(down));
    }

    /** Awaits the pods of the services that deploy again. */
    private static Step returned(Scene scene, Step.End result) {
        Progress progress = scene.progress();
        NodeFacts node = scene.sameNode().orElseThrow();
        List<String> missing = progress.services().stream()
                .filter(each -> each.pods() > 0)
                .filter(each -> each.value().equals(node.labels().get(each.label())))
                .map(Service::label)
                .filter(label -> scene.pods().get().stream()
                        .noneMatch(pod -> pod.pod().services().contains(label) && pod.ready()))
                .toList();
        if (missing.isEmpty()) {
            return ended(
                    scene,
                    scene.change().condition(RESTORED, true, "ServicesRestored", "the labels have their former values"),
                    result);
        }
        Instant since = progress.condition(RESTORED)
                .or(() -> progress.condition(COMPLETED))
                .or(() -> progress.condition(TORN_DOWN))
                .map(Condition::since)
                .orElseThrow();
        Instant end = since.plus(scene.settings().times().restore());
        if (scene.now().isBefore(end)) {
            return scene.again(since, end);
        }
        Step.End late = Step.End.failed(
                "RestoreTimeoutExceeded",
                "Node " + scene.resource().node() + ": expected ready pods of " + String.join(", ", missing) + " by "
                        + end + ", seen none");
        return ended(
                scene,
                scene.change().condition(RESTORED, false, late.reason(), late.message()),
                result.success() ? late : result);
    }
}
