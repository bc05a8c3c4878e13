package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** The steps of a RebootNode: one signal, then another boot ID, then a ready Node. Pure. */
final class RebootSteps {

    private static final String DONE = "NodeReady";
    private static final String SIGNAL = "SignalSent";
    private static final String EXTERNAL = "External";
    private static final String TIMEOUT = "Timeout";

    /** The interval at which the Job is read again. The Node's changes arrive by themselves. */
    private static final Duration JOB_AGAIN = Duration.ofSeconds(5);

    private RebootSteps() {}

    static Progress.Change start(Progress.Change change, Scene scene) {
        String boot = scene.node().map(NodeFacts::bootId).orElse("");
        boolean external = scene.settings().reboot() == RebootProvider.EXTERNAL;
        return change.set("bootID", boot)
                .condition(
                        SIGNAL,
                        false,
                        external ? EXTERNAL : "SendingSignal",
                        external
                                ? "another program reboots Node "
                                        + scene.resource().node()
                                : "the reboot of boot " + boot + " is about to be requested");
    }

    static Step next(Scene scene) {
        Optional<String> lost = Steps.lost(scene);
        if (lost.isPresent()) {
            return fail(scene, scene.node().isEmpty() ? "NodeNotFound" : "NodeReplaced", lost.get());
        }
        NodeFacts node = scene.sameNode().orElseThrow();
        Progress progress = scene.progress();
        boolean rebooted = !node.bootId().equals(progress.bootId());
        if (!progress.isTrue(SIGNAL) && scene.job().isPresent()) {
            // The node can be back before the reference to its Job is stored.
            return signal(scene, node);
        }
        if (rebooted && node.ready()) {
            return new Step.SetStatus(Steps.cancelled(scene.change(), scene)
                    .complete(
                            DONE,
                            true,
                            "Rebooted",
                            "boot " + node.bootId() + " follows boot " + progress.bootId()
                                    + ", and the Node is ready"));
        }
        boolean sent = progress.isTrue(SIGNAL);
        boolean external = progress.condition(SIGNAL)
                .filter(each -> each.reason().equals(EXTERNAL))
                .isPresent();
        if (!rebooted && !sent && !external) {
            return signal(scene, node);
        }
        return await(scene, rebooted, external);
    }

    /** Returns the steps that send the signal once: the Job, then its reference. */
    private static Step signal(Scene scene, NodeFacts node) {
        Optional<JobFacts> job = scene.job();
        if (job.isPresent()) {
            return new Step.SetStatus(scene.change()
                    .set("jobRef", Jobs.ref(scene, job.get()).tree())
                    .condition(
                            SIGNAL,
                            true,
                            "JobCreated",
                            "Job " + Jobs.name(scene.resource()) + " requests the reboot of boot "
                                    + scene.progress().bootId()));
        }
        if (scene.resource().cancelled()) {
            return fail(scene, "Cancelled", Steps.cause(scene.resource()) + ": no reboot was requested");
        }
        if (!node.unschedulable()) {
            return fail(
                    scene,
                    "NodeInService",
                    "Node " + scene.resource().node() + ": expected a cordoned Node, seen one without a cordon");
        }
        return node.bootId().isEmpty()
                ? fail(
                        scene,
                        "BootIDUnknown",
                        "Node " + scene.resource().node() + ": expected a boot ID in status.nodeInfo.bootID, seen none")
                : new Step.CreateJob();
    }

    private static Step await(Scene scene, boolean rebooted, boolean external) {
        Progress progress = scene.progress();
        if (external && scene.resource().cancelled() && !rebooted) {
            return fail(scene, "Cancelled", Steps.cause(scene.resource()) + ": no other boot was seen");
        }
        Optional<JobFacts> failed = scene.job().filter(job -> job.succeeded().equals(Optional.of(false)));
        // A container that the reboot itself ended has no code of its own, or one above 128.
        boolean refused =
                failed.flatMap(JobFacts::exitCode).filter(code -> code < 128).isPresent();
        if (!rebooted && refused) {
            return fail(
                    scene,
                    "RebootRefused",
                    "Job " + Jobs.name(scene.resource()) + ": expected a reboot, seen "
                            + failed.get().message());
        }
        Instant end = progress.condition(SIGNAL)
                .map(Condition::since)
                .orElse(scene.now())
                .plus(scene.settings().times().reboot());
        if (scene.now().isBefore(end)) {
            return new Step.Wait(rebooted || external ? Steps.LATER : JOB_AGAIN);
        }
        String node = "Node " + scene.resource().node() + ": expected ";
        return rebooted
                ? fail(scene, TIMEOUT, node + "it to be ready by " + end + ", seen another boot, but not ready")
                : fail(scene, TIMEOUT, node + "another boot ID by " + end + ", seen still " + progress.bootId());
    }

    private static Step fail(Scene scene, String reason, String message) {
        return new Step.SetStatus(Steps.cancelled(scene.change(), scene).complete(DONE, false, reason, message));
    }
}
