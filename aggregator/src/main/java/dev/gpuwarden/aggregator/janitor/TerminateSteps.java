package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.ActGate.Refusal;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import java.time.Instant;
import java.util.Optional;

/**
 * The steps of a TerminateNode, which a provider, the operator's command or another program carries out. It is complete when the
 * Node is gone. Pure.
 */
final class TerminateSteps {

    private static final String EXTERNAL = "External";

    private static final String NOTHING = "no termination was requested";

    private TerminateSteps() {}

    static Progress.Change start(Progress.Change change, Scene scene) {
        String node = "Node " + scene.resource().node();
        return requests(scene)
                ? change.condition(
                        Signals.SENT, false, Signals.SENDING, "the end of " + node + " is about to be requested")
                : change.condition(Signals.SENT, false, EXTERNAL, "another program terminates " + node);
    }

    /** Returns true if this program requests terminations. */
    private static boolean requests(Scene scene) {
        RebootProvider way = scene.settings().reboot();
        return way == RebootProvider.PROVIDER || way == RebootProvider.COMMAND;
    }

    static Step next(Scene scene) {
        Optional<Condition> refused = JobSignal.refusal(scene.progress());
        if (refused.isPresent()) {
            return fail(scene, refused.get().reason(), refused.get().message());
        }
        if (scene.sameNode().isEmpty()) {
            return JobSignal.complete(
                    scene, true, "NodeGone", "Node " + scene.resource().node() + " is gone");
        }
        Optional<Step> interrupt = JobSignal.interrupt(scene);
        if (interrupt.isPresent()) {
            return interrupt.get();
        }
        Optional<JobFacts> waiting = JobSignal.waiting(scene);
        if (scene.progress().isTrue(Signals.SENT) && waiting.isPresent()) {
            return JobSignal.start(scene, waiting.get(), NOTHING);
        }
        boolean unsent = scene.progress()
                .condition(Signals.SENT)
                .filter(each -> each.reason().equals(Signals.SENDING))
                .isPresent();
        return unsent && requests(scene) ? signal(scene) : await(scene);
    }

    private static Step signal(Scene scene) {
        if (scene.job().isPresent()) {
            return JobSignal.refer(
                    scene,
                    scene.job().get(),
                    "requests the end of Node " + scene.resource().node());
        }
        Optional<Refusal> refusal = ActGate.refusal(scene, NOTHING);
        if (refusal.isPresent()) {
            return fail(scene, refusal.get());
        }
        return scene.settings().reboot() == RebootProvider.COMMAND
                ? new Step.CreateJob()
                : ActGate.pass(scene, NOTHING, Signals.request(scene, end(scene)), each -> fail(scene, each));
    }

    private static Step await(Scene scene) {
        boolean external = scene.progress()
                .condition(Signals.SENT)
                .filter(each -> each.reason().equals(EXTERNAL))
                .isPresent();
        if (external && scene.resource().cancelled()) {
            return fail(
                    scene,
                    NotTried.CANCELLED,
                    Steps.cause(scene.resource()) + ": Node " + scene.resource().node() + " is still there");
        }
        Optional<JobFacts> failed = scene.job().filter(job -> job.succeeded().equals(Optional.of(false)));
        if (failed.isPresent()) {
            return fail(
                    scene,
                    failed.get().withheld() ? NotTried.REFUSED_ON_NODE : "TerminationRefused",
                    "Job " + Jobs.name(scene.resource()) + ": expected the request of the end of the node, seen "
                            + failed.get().message());
        }
        Instant end = end(scene);
        return scene.now().isBefore(end)
                ? JobSignal.again(scene, end)
                : fail(
                        scene,
                        scene.progress()
                                .condition(Signals.SENT)
                                .map(Condition::reason)
                                .filter(NotTried.JOB_SUSPENDED::equals)
                                .orElse("Timeout"),
                        "expected Node " + scene.resource().node() + " to be gone by " + end + ", seen it still there");
    }

    private static Instant end(Scene scene) {
        return scene.progress()
                .started()
                .orElseThrow()
                .plus(scene.settings().times().terminate());
    }

    private static Step fail(Scene scene, Refusal refusal) {
        return fail(scene, refusal.reason(), refusal.message());
    }

    private static Step fail(Scene scene, String reason, String message) {
        return JobSignal.complete(scene, false, reason, message);
    }
}
