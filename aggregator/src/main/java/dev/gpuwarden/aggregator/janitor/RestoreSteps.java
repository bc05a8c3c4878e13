package dev.gpuwarden.aggregator.janitor;

import static dev.gpuwarden.aggregator.janitor.ResetSteps.COMPLETED;
import static dev.gpuwarden.aggregator.janitor.ResetSteps.RESTORED;
import static dev.gpuwarden.aggregator.janitor.ResetSteps.TORN_DOWN;

import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Progress.Service;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The last steps of a GPUReset: the services up, and its end. The first failure is the result. Pure. */
final class RestoreSteps {

    private static final String RESTORING = "RestoringServices";

    private RestoreSteps() {}

    /** Adds the condition of services that return from now on. */
    static Progress.Change restoring(Scene scene, Progress.Change change) {
        return scene.progress().services().isEmpty()
                ? change
                : change.condition(RESTORED, false, RESTORING, "the services of the GPU Operator are started again");
    }

    private record Failure(String reason, String message) {

        static final Failure NONE = new Failure("", "");
    }

    /** Returns the failure. Another program can write a success of its own, so the Job decides then. */
    private static Failure failure(Scene scene) {
        Optional<String> foreign = scene.resource().foreign();
        if (foreign.isPresent()
                && scene.progress().isTrue(COMPLETED)
                && scene.job()
                        .flatMap(JobFacts::succeeded)
                        .filter(success -> success)
                        .isEmpty()) {
            return new Failure(NotTried.OTHER_JANITOR, foreign.get());
        }
        return scene.progress().conditions().stream()
                .filter(each -> each.type().equals(TORN_DOWN) || each.type().equals(COMPLETED))
                .filter(each -> !each.isTrue())
                .map(each -> new Failure(each.reason(), each.message()))
                .reduce((first, last) -> last)
                .orElseGet(() -> scene.progress().isTrue(COMPLETED)
                        ? Failure.NONE
                        : new Failure(NotTried.STATUS_NOT_KEPT, Steps.notKept(scene.resource(), COMPLETED)));
    }

    static Step next(Scene scene) {
        Failure failure = failure(scene);
        boolean success = failure.equals(Failure.NONE);
        Progress.Change change = scene.change();
        Optional<String> lost = Steps.lost(scene);
        if (lost.isPresent()) {
            return ResetSteps.end(
                    scene,
                    change.condition(RESTORED, false, ResetSteps.lostReason(scene), lost.get()),
                    false,
                    success ? ResetSteps.lostReason(scene) : failure.reason(),
                    success ? lost.get() : failure.message());
        }
        NodeFacts node = scene.sameNode().orElseThrow();
        Optional<Step> start = StoppedServices.start(scene);
        if (start.isPresent()) {
            return start.get();
        }
        if (scene.progress().services().isEmpty()) {
            return ResetSteps.end(scene, change, success, failure.reason(), failure.message());
        }
        if (scene.pods().isEmpty()) {
            return new Step.ReadPods();
        }
        return returned(scene, success, failure, node);
    }

    /** Awaits the pods of the services that deploy again. */
    private static Step returned(Scene scene, boolean success, Failure failure, NodeFacts node) {
        List<String> missing = scene.progress().services().stream()
                .filter(each -> each.pods() > 0)
                .filter(each -> each.value().equals(node.labels().get(each.label())))
                .map(Service::label)
                .filter(label -> scene.pods().get().stream()
                        .noneMatch(pod -> pod.pod().services().contains(label) && pod.ready()))
                .toList();
        Progress.Change change = scene.change();
        if (missing.isEmpty()) {
            return ResetSteps.end(
                    scene,
                    change.condition(RESTORED, true, "ServicesRestored", "the labels have their former values"),
                    success,
                    failure.reason(),
                    failure.message());
        }
        Progress progress = scene.progress();
        Instant since = progress.condition(RESTORED)
                .or(() -> progress.condition(COMPLETED))
                .or(() -> progress.condition(TORN_DOWN))
                .map(Condition::since)
                .orElseThrow();
        Instant end = since.plus(scene.settings().times().restore());
        if (scene.now().isBefore(end)) {
            return Step.Wait.again(scene, since, end);
        }
        String text = "Node " + scene.resource().node() + ": expected ready pods of " + String.join(", ", missing)
                + " by " + end + ", seen none";
        return ResetSteps.end(
                scene,
                change.condition(RESTORED, false, "RestoreTimeoutExceeded", text),
                false,
                success ? "RestoreTimeoutExceeded" : failure.reason(),
                success ? text : failure.message());
    }
}
