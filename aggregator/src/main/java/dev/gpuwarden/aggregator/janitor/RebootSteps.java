package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.ActGate.Refusal;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Scene.JobFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;

/** The steps of a RebootNode: one signal, then another boot ID, then a ready Node. Pure. */
final class RebootSteps {

    private static final String SIGNAL = Signals.SENT;
    private static final String EXTERNAL = "External";
    private static final String NOTHING = "no reboot was requested";
    private static final String TIMEOUT = "Timeout";

    private RebootSteps() {}

    static Progress.Change start(Progress.Change change, Scene scene) {
        String boot = scene.node().map(NodeFacts::bootId).orElse("");
        boolean external = scene.settings().reboot() == RebootProvider.EXTERNAL;
        return change.set("bootID", boot)
                .condition(
                        SIGNAL,
                        false,
                        external ? EXTERNAL : Signals.SENDING,
                        external
                                ? "another program reboots Node "
                                        + scene.resource().node()
                                : "the reboot of boot " + boot + " is about to be requested");
    }

    static Step next(Scene scene) {
        Progress progress = scene.progress();
        Optional<Condition> refused = JobSignal.refusal(progress);
        if (refused.isPresent()) {
            return fail(scene, refused.get().reason(), refused.get().message());
        }
        Optional<String> lost = Steps.lost(scene);
        if (lost.isPresent()) {
            return fail(scene, scene.node().isEmpty() ? NotTried.NODE_NOT_FOUND : NotTried.NODE_REPLACED, lost.get());
        }
        NodeFacts node = scene.sameNode().orElseThrow();
        boolean rebooted = !node.bootId().equals(progress.bootId());
        if (!progress.isTrue(SIGNAL) && scene.job().isPresent()) {
            // The node can be back before the reference to its Job is stored.
            return signal(scene, node);
        }
        if (rebooted && node.ready()) {
            return JobSignal.complete(
                    scene,
                    true,
                    "Rebooted",
                    "boot " + node.bootId() + " follows boot " + progress.bootId() + ", and the Node is ready"
                            + evidence(scene));
        }
        Optional<Step> interrupt = JobSignal.interrupt(scene);
        if (interrupt.isPresent()) {
            return interrupt.get();
        }
        boolean sent = progress.isTrue(SIGNAL);
        Optional<JobFacts> waiting = JobSignal.waiting(scene);
        if (sent && !rebooted && waiting.isPresent()) {
            return JobSignal.start(scene, waiting.get(), NOTHING);
        }
        Optional<Step> withdraw = rebooted ? Optional.empty() : JobSignal.withdraw(scene, NOTHING);
        if (withdraw.isPresent()) {
            return withdraw.get();
        }
        boolean external = progress.condition(SIGNAL)
                .filter(each -> each.reason().equals(EXTERNAL))
                .isPresent();
        if (!rebooted && !sent && !external && !Signals.isOpen(progress)) {
            return signal(scene, node);
        }
        return await(scene, rebooted, external);
    }

    /** Returns the steps that send the signal once: the Job, then its reference. */
    private static Step signal(Scene scene, NodeFacts node) {
        Optional<JobFacts> job = scene.job();
        if (job.isPresent()) {
            return JobSignal.refer(
                    scene,
                    job.get(),
                    "requests the reboot of boot " + scene.progress().bootId());
        }
        Optional<Refusal> refusal = ActGate.refusal(scene, NOTHING);
        if (refusal.isPresent()) {
            return fail(scene, refusal.get());
        }
        if (node.bootId().isEmpty()) {
            return fail(
                    scene,
                    NotTried.BOOT_ID_UNKNOWN,
                    "Node " + scene.resource().node() + ": expected a boot ID in status.nodeInfo.bootID, seen none");
        }
        return scene.settings().reboot() == RebootProvider.PROVIDER
                ? ActGate.pass(scene, NOTHING, Signals.request(scene, end(scene)), each -> fail(scene, each))
                : new Step.CreateJob();
    }

    private static Step await(Scene scene, boolean rebooted, boolean external) {
        Progress progress = scene.progress();
        if (external && scene.resource().cancelled() && !rebooted) {
            return fail(scene, NotTried.CANCELLED, Steps.cause(scene.resource()) + ": no other boot was seen");
        }
        Optional<JobFacts> failed = scene.job().filter(job -> job.succeeded().equals(Optional.of(false)));
        // A container that the reboot itself ended has no code of its own, or one above 128.
        boolean refused =
                failed.flatMap(JobFacts::exitCode).filter(code -> code < 128).isPresent();
        if (!rebooted && refused) {
            return fail(
                    scene,
                    failed.get().withheld() ? NotTried.REFUSED_ON_NODE : "RebootRefused",
                    "Job " + Jobs.name(scene.resource()) + ": expected a reboot, seen "
                            + failed.get().message());
        }
        Instant end = end(scene);
        if (scene.now().isBefore(end)) {
            return rebooted ? new Step.Wait(Steps.LATER) : JobSignal.again(scene, end);
        }
        String node = "Node " + scene.resource().node() + ": expected ";
        String evidence = evidence(scene);
        return rebooted
                ? fail(
                        scene,
                        TIMEOUT,
                        node + "it to be ready by " + end + ", seen another boot, but not ready" + evidence)
                : fail(
                        scene,
                        progress.condition(SIGNAL)
                                .map(Condition::reason)
                                .filter(NotTried.JOB_SUSPENDED::equals)
                                .orElse(TIMEOUT),
                        node + "another boot ID by " + end + ", seen still " + progress.bootId() + evidence);
    }

    /** Returns the place of the evidence. An operator needs it also after a success that does not end the fault. */
    private static String evidence(Scene scene) {
        return "; "
                + (scene.settings().reboot() == RebootProvider.JOB
                                && (scene.progress().job().isPresent()
                                        || scene.job().isPresent())
                        ? Jobs.evidence(scene.resource())
                        : "no evidence was kept, because no Job ran on the node");
    }

    /** The condition can be older than the action, because a resource that waits for its begin has it too. */
    private static Instant end(Scene scene) {
        return Stream.of(
                        scene.progress().started(),
                        scene.progress().condition(SIGNAL).map(Condition::since),
                        scene.job().map(JobFacts::begun))
                .flatMap(Optional::stream)
                .max(Instant::compareTo)
                .orElse(scene.now())
                .plus(scene.settings().times().reboot());
    }

    private static Step fail(Scene scene, Refusal refusal) {
        return fail(scene, refusal.reason(), refusal.message());
    }

    private static Step fail(Scene scene, String reason, String message) {
        return JobSignal.complete(scene, false, reason, message);
    }
}
