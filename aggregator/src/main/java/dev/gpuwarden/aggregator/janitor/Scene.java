package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.node.ReportedGpus;
import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The facts for the next step of a resource.
 *
 * @param node the Node of that name; empty if there is none
 * @param job the Job of the resource; empty if there is none
 * @param pods the pods of the node; empty if they have not been read
 * @param ahead the other resources of the node that are in progress, and older or begun
 * @param gpus the GPUs of the node; none if no step needs them
 */
record Scene(
        Maintenance resource,
        Optional<NodeFacts> node,
        Lock lock,
        Optional<JobFacts> job,
        Optional<List<NodePod>> pods,
        List<Maintenance> ahead,
        ReportedGpus gpus,
        JanitorSettings settings,
        Instant now) {

    /**
     * The properties of a Node that maintenance needs.
     *
     * @param version its resourceVersion, which each write of its labels requires
     */
    record NodeFacts(
            String uid,
            String version,
            boolean unschedulable,
            Map<String, String> labels,
            Optional<DrainAnnotation> drain,
            String bootId,
            boolean ready) {

        static NodeFacts of(Map<String, Object> tree) {
            Map<String, Object> metadata = JsonTrees.object(tree, "metadata");
            Map<String, Object> status = JsonTrees.object(tree, "status");
            return new NodeFacts(
                    JsonTrees.text(metadata, "uid"),
                    JsonTrees.text(metadata, "resourceVersion"),
                    JsonTrees.isTrue(JsonTrees.object(tree, "spec"), "unschedulable"),
                    JsonTrees.texts(metadata, "labels"),
                    drain(tree),
                    Identifiers.uid(JsonTrees.text(JsonTrees.object(status, "nodeInfo"), "bootID")),
                    JsonTrees.objects(status, "conditions").stream()
                            .anyMatch(each -> JsonTrees.text(each, "type").equals("Ready")
                                    && JsonTrees.text(each, "status").equals("True")));
        }

        NodeFacts withoutVersion() {
            return new NodeFacts(uid, "", unschedulable, labels, drain, bootId, ready);
        }

        /** A drain that cannot be read counts as none, so the pods decide. */
        private static Optional<DrainAnnotation> drain(Map<String, Object> tree) {
            try {
                return DrainAnnotation.find(CachedNode.of(tree));
            } catch (IOException e) {
                return Optional.empty();
            }
        }

        /** Returns true if the drain of all pods has ended. */
        boolean drained() {
            return drain.filter(
                            each -> each.full().isPresent() && each.finished().isPresent())
                    .isPresent();
        }

        /** Returns true if the pods of these GPUs have ended. */
        boolean drained(List<String> gpus) {
            return drained()
                    || drain.filter(each -> each.done().containsAll(gpus)).isPresent();
        }
    }

    /** The lock of the node. */
    record Lock(State state, String leaseUid, String holder) {

        enum State {
            FREE,
            OURS,
            /** Another resource that this program carries out has it. */
            OTHER,
            /** Its owner has ended, or does not exist any more. */
            ORPHAN,
            /** Another program has it. */
            FOREIGN
        }

        static final Lock FREE = new Lock(State.FREE, "", "");
    }

    /**
     * A Job.
     *
     * @param version its resourceVersion, which its start requires
     * @param begun time of its start, or of its creation before
     * @param started true once it was started, also if another controller has suspended it since
     * @param suspended true until its resource refers to it and it was started, and again if another controller suspends it
     * @param succeeded its result; empty while it runs
     * @param exitCode exit code of its container; empty if there is none
     * @param message reason of its failure; empty if it did not fail
     */
    record JobFacts(
            String uid,
            String version,
            Instant begun,
            boolean started,
            boolean suspended,
            Optional<Boolean> succeeded,
            Optional<Integer> exitCode,
            String message) {

        /** Returns true before the one start of the Job. */
        boolean waits() {
            return suspended && !started;
        }

        /** Returns true if the program on the node has tested again, and has ended before it did anything. */
        boolean withheld() {
            return exitCode.equals(Optional.of(ExitCode.WITHHELD)) && message.startsWith("withheld: ");
        }

        /** Returns true if the arguments of the program were wrong, or a program or GPU was missing. */
        boolean unusable() {
            return exitCode.equals(Optional.of(ExitCode.USAGE));
        }

        /** Returns true if another controller has suspended the Job after its start: its pod may have acted. */
        boolean interrupted() {
            return suspended && started && succeeded.isEmpty();
        }

        boolean runs() {
            return !suspended && succeeded.isEmpty();
        }
    }

    /**
     * A pod of the node.
     *
     * @param begun true once one of its containers was started
     */
    record NodePod(PodView pod, boolean ready, boolean begun) {

        static NodePod of(Map<String, Object> tree) {
            return new NodePod(
                    PodView.of(tree),
                    JsonTrees.objects(JsonTrees.object(tree, "status"), "conditions").stream()
                            .anyMatch(each -> JsonTrees.text(each, "type").equals("Ready")
                                    && JsonTrees.text(each, "status").equals("True")),
                    JsonTrees.objects(JsonTrees.object(tree, "status"), "containerStatuses").stream()
                            .map(each -> JsonTrees.object(each, "state"))
                            .anyMatch(state -> state.containsKey("running") || state.containsKey("terminated")));
        }
    }

    /**
     * The facts that the answer to a write gives. Facts that are empty did not change by the write.
     *
     * @param complete false if the facts must be read again
     */
    record Written(boolean complete, Optional<Maintenance> resource, Optional<Lock> lock, Optional<JobFacts> job) {

        static final Written NOTHING = new Written(false, Optional.empty(), Optional.empty(), Optional.empty());

        static Written of(Maintenance resource) {
            return new Written(true, Optional.of(resource), Optional.empty(), Optional.empty());
        }

        static Written of(Lock lock) {
            return new Written(true, Optional.empty(), Optional.of(lock), Optional.empty());
        }

        static Written of(JobFacts job) {
            return new Written(true, Optional.empty(), Optional.empty(), Optional.of(job));
        }
    }

    Scene with(List<NodePod> read) {
        return new Scene(resource, node, lock, job, Optional.of(read), ahead, gpus, settings, now);
    }

    /** Returns the facts after a write; empty if they must be read again. The pods are read again if a step needs them. */
    Optional<Scene> after(Written written, List<Maintenance> others, Instant time) {
        return written.complete()
                ? Optional.of(new Scene(
                        written.resource().orElse(resource),
                        node,
                        written.lock().orElse(lock),
                        written.job().or(() -> job),
                        Optional.empty(),
                        others,
                        gpus,
                        settings,
                        time))
                : Optional.empty();
    }

    Progress progress() {
        return resource.progress();
    }

    Progress.Change change() {
        return new Progress.Change(progress(), now);
    }

    /** Returns the Node if it is still the one for which the action began. */
    Optional<NodeFacts> sameNode() {
        return node.filter(each -> each.uid().equals(progress().nodeUid()));
    }
}
