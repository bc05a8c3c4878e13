package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import java.time.Instant;
import java.util.Optional;

/**
 * The steps of a TerminateNode, which a provider, the operator's command or another program carries out. It is complete when the
 * Node is gone. Pure.
 */
final class TerminateSteps {

    private TerminateSteps() {}

    private static Step begin(Scene scene) {
        String node = "Node " + scene.resource().node();
        Progress.Change change = scene.begun();
        return new Step.SetStatus(
                requests(scene)
                        ? change.condition(
                                NodeSignal.SENT,
                                false,
                                NodeSignal.SENDING,
                                "the end of " + node + " is about to be requested")
                        : change.condition(
                                NodeSignal.SENT, false, NodeSignal.EXTERNAL, "another program terminates " + node));
    }

    /** Returns true if this program requests terminations. */
    private static boolean requests(Scene scene) {
        RebootProvider way = scene.settings().reboot();
        return way == RebootProvider.PROVIDER || way == RebootProvider.COMMAND;
    }

    /** @param refusal reason why nothing may be done to the Node now; empty if it may */
    static Step next(Scene scene, Optional<Step.End> refusal) {
        if (!scene.progress().isRecorded()) {
            return begin(scene);
        }
        NodeSignal signal = new NodeSignal(scene, refusal);
        Optional<Step.End> refused = signal.refused();
        if (refused.isPresent()) {
            return refused.get();
        }
        if (scene.sameNode().isEmpty()) {
            return new Step.End(true, "NodeGone", "Node " + scene.resource().node() + " is gone");
        }
        Optional<Step> job = signal.interrupt().or(signal::start);
        if (job.isPresent()) {
            return job.get();
        }
        return signal.has(NodeSignal.SENDING) && requests(scene) ? request(scene, signal) : await(scene, signal);
    }

    /** Returns the steps that request the end once: by a Job, then its reference; or from the provider. */
    private static Step request(Scene scene, NodeSignal signal) {
        if (scene.job().isPresent()) {
            return signal.refer(
                    scene.job().get(),
                    "requests the end of Node " + scene.resource().node());
        }
        if (signal.refusal().isPresent()) {
            return signal.refusal().get();
        }
        return scene.settings().reboot() == RebootProvider.COMMAND ? new Step.CreateJob() : signal.request(end(scene));
    }

    private static Step await(Scene scene, NodeSignal signal) {
        String node = "Node " + scene.resource().node();
        if (signal.has(NodeSignal.EXTERNAL) && scene.resource().cancelled()) {
            return Step.End.failed(
                    NotTried.CANCELLED, scene.resource().cancellation() + ": " + node + " is still there");
        }
        Optional<JobFacts> failed = scene.job().filter(job -> job.succeeded().equals(Optional.of(false)));
        if (failed.isPresent()) {
            return Step.End.failed(
                    failed.get().withheld() ? NotTried.REFUSED_ON_NODE : "TerminationRefused",
                    "Job " + scene.resource().jobName() + ": expected the request of the end of the node, seen "
                            + failed.get().message());
        }
        Instant end = end(scene);
        return scene.now().isBefore(end)
                ? signal.again(end)
                : signal.late("expected " + node + " to be gone by " + end + ", seen it still there");
    }

    private static Instant end(Scene scene) {
        return scene.progress()
                .started()
                .orElseThrow()
                .plus(scene.settings().times().terminate());
    }
}
