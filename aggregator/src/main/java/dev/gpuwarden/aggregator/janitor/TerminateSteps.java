package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import java.time.Instant;
import java.util.Optional;

/** The steps of a TerminateNode, which a provider or another program carries out. It is complete when the Node is gone. Pure. */
final class TerminateSteps {

    private static final String DONE = "NodeTerminated";

    private TerminateSteps() {}

    static Progress.Change start(Progress.Change change, Scene scene) {
        String node = "Node " + scene.resource().node();
        return scene.settings().reboot() == RebootProvider.PROVIDER
                ? change.condition(
                        Signals.SENT, false, Signals.SENDING, "the end of " + node + " is about to be requested")
                : change.condition(Signals.SENT, false, "External", "another program terminates " + node);
    }

    static Step next(Scene scene) {
        if (scene.sameNode().isEmpty()) {
            return new Step.SetStatus(scene.change()
                    .complete(DONE, true, "NodeGone", "Node " + scene.resource().node() + " is gone"));
        }
        Optional<String> refused = Signals.refusal(scene.progress());
        if (refused.isPresent()) {
            return fail(scene, Signals.REFUSED, refused.get());
        }
        boolean requested = scene.progress().isTrue(Signals.SENT) || Signals.isOpen(scene.progress());
        if (scene.resource().cancelled() && !requested) {
            return fail(
                    scene,
                    "Cancelled",
                    Steps.cause(scene.resource()) + ": Node " + scene.resource().node() + " is still there");
        }
        Instant end = scene.progress()
                .started()
                .orElseThrow()
                .plus(scene.settings().times().terminate());
        boolean unsent = scene.progress()
                .condition(Signals.SENT)
                .filter(each -> each.reason().equals(Signals.SENDING))
                .isPresent();
        if (unsent) {
            Optional<String> inService = Steps.inService(scene);
            return inService.isPresent()
                    ? fail(scene, "NodeInService", inService.get())
                    : Signals.request(scene, DONE, end);
        }
        return scene.now().isBefore(end)
                ? new Step.Wait(Steps.LATER)
                : fail(
                        scene,
                        "Timeout",
                        "expected Node " + scene.resource().node() + " to be gone by " + end + ", seen it still there");
    }

    private static Step fail(Scene scene, String reason, String message) {
        return new Step.SetStatus(Steps.cancelled(scene.change(), scene).complete(DONE, false, reason, message));
    }
}
