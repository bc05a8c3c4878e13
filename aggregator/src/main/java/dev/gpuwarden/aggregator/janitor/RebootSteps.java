package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/** The steps of a RebootNode: one signal, then another boot ID, then a ready Node. Pure. */
final class RebootSteps {

    private RebootSteps() {}

    private static Step begin(Scene scene) {
        String boot = scene.node().map(NodeFacts::bootId).orElse("");
        boolean external = scene.settings().reboot() == RebootProvider.EXTERNAL;
        return new Step.SetStatus(scene.begun()
                .set("bootID", boot)
                .condition(
                        NodeSignal.SENT,
                        false,
                        external ? NodeSignal.EXTERNAL : NodeSignal.SENDING,
                        external
                                ? "another program reboots Node "
                                        + scene.resource().node()
                                : "the reboot of boot " + boot + " is about to be requested"));
    }

    /** @param refusal reason why nothing may be done to the Node now; empty if it may */
    static Step next(Scene scene, Optional<Step.End> refusal) {
        Progress progress = scene.progress();
        if (!progress.isRecorded()) {
            return begin(scene);
        }
        NodeSignal signal = new NodeSignal(scene, refusal);
        Optional<Step.End> over = signal.refused().or(scene::lost);
        if (over.isPresent()) {
            return over.get();
        }
        NodeFacts node = scene.sameNode().orElseThrow();
        boolean rebooted = !node.bootId().equals(progress.bootId());
        if (!signal.isSent() && scene.job().isPresent()) {
            // The node can be back before the reference to its Job is stored.
            return signal.refer(scene.job().get(), "requests the reboot of boot " + progress.bootId());
        }
        if (rebooted && node.ready()) {
            return new Step.End(
                    true,
                    "Rebooted",
                    "boot " + node.bootId() + " follows boot " + progress.bootId() + ", and the Node is ready"
                            + evidence(scene));
        }
        Optional<Step> job = signal.interrupt();
        if (job.isEmpty() && !rebooted) {
            job = signal.start().or(signal::withdraw);
        }
        if (job.isPresent()) {
            return job.get();
        }
        return rebooted || signal.isSent() || signal.has(NodeSignal.EXTERNAL) || signal.has(NodeSignal.REQUESTING)
                ? await(scene, signal, rebooted)
                : request(scene, signal);
    }

    /** Returns the step that requests the reboot once. */
    private static Step request(Scene scene, NodeSignal signal) {
        if (signal.refusal().isPresent()) {
            return signal.refusal().get();
        }
        if (scene.progress().bootId().isEmpty()) {
            return Step.End.failed(
                    NotTried.BOOT_ID_UNKNOWN,
                    "Node " + scene.resource().node() + ": expected a boot ID in status.nodeInfo.bootID, seen none");
        }
        return scene.settings().reboot() == RebootProvider.PROVIDER ? signal.request(end(scene)) : new Step.CreateJob();
    }

    private static Step await(Scene scene, NodeSignal signal, boolean rebooted) {
        if (signal.has(NodeSignal.EXTERNAL) && scene.resource().cancelled() && !rebooted) {
            return Step.End.failed(NotTried.CANCELLED, scene.resource().cancellation() + ": no other boot was seen");
        }
        // A container that the reboot itself ended has no code of its own, or one above 128.
        Optional<JobFacts> refused = scene.job()
                .filter(job -> job.succeeded().equals(Optional.of(false)))
                .filter(job -> job.exitCode().filter(code -> code < 128).isPresent());
        if (!rebooted && refused.isPresent()) {
            return Step.End.failed(
                    refused.get().withheld() ? NotTried.REFUSED_ON_NODE : "RebootRefused",
                    "Job " + scene.resource().jobName() + ": expected a reboot, seen "
                            + refused.get().message());
        }
        Instant end = end(scene);
        if (scene.now().isBefore(end)) {
            return rebooted ? new Step.Wait(Step.Wait.LATER) : signal.again(end);
        }
        String node = "Node " + scene.resource().node() + ": expected ";
        return rebooted
                ? Step.End.failed(
                        "Timeout",
                        node + "it to be ready by " + end + ", seen another boot, but not ready" + evidence(scene))
                : signal.late(node + "another boot ID by " + end + ", seen still "
                        + scene.progress().bootId() + evidence(scene));
    }

    /**
     * Returns the place of the evidence that the Job collects before it requests the reboot. An operator needs it also after a success
     * that does not end the fault.
     */
    private static String evidence(Scene scene) {
        boolean ran = scene.settings().reboot() == RebootProvider.JOB
                && (scene.progress().job().isPresent() || scene.job().isPresent());
        Maintenance resource = scene.resource();
        return ran
                ? "; evidence from before it is in " + Jobs.BUNDLES + "/bundle-reboot-" + resource.uid()
                        + ".zip of the node, or the log of Job " + resource.jobName() + " has the cause why not"
                : "; no evidence was kept, because no Job ran on the node";
    }

    /** The condition can be older than the action, because a resource that waits for its begin has it too. */
    private static Instant end(Scene scene) {
        return Stream.of(
                        scene.progress().started(),
                        scene.progress().condition(NodeSignal.SENT).map(Condition::since),
                        scene.job().map(JobFacts::begun))
                .flatMap(Optional::stream)
                .max(Instant::compareTo)
                .orElse(scene.now())
                .plus(scene.settings().times().reboot());
    }
}
