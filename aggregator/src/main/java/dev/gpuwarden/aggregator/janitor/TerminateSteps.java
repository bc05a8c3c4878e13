package dev.gpuwarden.aggregator.janitor;

import java.time.Instant;

/** The steps of a TerminateNode, which another program carries out. It is complete when the Node is gone. Pure. */
final class TerminateSteps {

    private static final String DONE = "NodeTerminated";

    private TerminateSteps() {}

    static Progress.Change start(Progress.Change change, Scene scene) {
        return change.condition(
                "SignalSent",
                false,
                "External",
                "another program terminates Node " + scene.resource().node());
    }

    static Step next(Scene scene) {
        if (scene.sameNode().isEmpty()) {
            return new Step.SetStatus(scene.change()
                    .complete(DONE, true, "NodeGone", "Node " + scene.resource().node() + " is gone"));
        }
        if (scene.resource().cancelled()) {
            return new Step.SetStatus(Steps.cancelled(scene.change(), scene)
                    .complete(
                            DONE,
                            false,
                            "Cancelled",
                            Steps.cause(scene.resource()) + ": Node "
                                    + scene.resource().node() + " is still there"));
        }
        Instant end = scene.progress()
                .started()
                .orElseThrow()
                .plus(scene.settings().times().terminate());
        return scene.now().isBefore(end)
                ? new Step.Wait(Steps.LATER)
                : new Step.SetStatus(scene.change()
                        .complete(
                                DONE,
                                false,
                                "Timeout",
                                "expected Node " + scene.resource().node() + " to be gone by " + end
                                        + ", seen it still there"));
    }
}
