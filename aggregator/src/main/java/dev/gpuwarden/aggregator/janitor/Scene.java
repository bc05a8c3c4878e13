package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.janitor.Progress.JobRef;
import dev.gpuwarden.aggregator.janitor.Step.SetLabels.Label;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.NotTried;
import dev.gpuwarden.aggregator.pods.PodView;
import dev.gpuwarden.api.kube.DriverUpgrade;
import dev.gpuwarden.core.model.Identifiers;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.JsonTrees;
import java.io.IOException;
import java.time.Duration;
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
 * @param source origin of all facts but the pods, which are always read
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
        Instant now,
        Source source) {

    /** The origin of the facts. Those of a watch can be old. */
    enum Source {
        /** Watches and an earlier read, but for the Job, which was read now. */
        WATCHED,
        /** Read now, but for the resource: a watch has delivered it. */
        DELIVERED,
        /** The answer to a write, and what was read before it. */
        ANSWERED,
        /** Read now. */
        READ
    }

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

        /** Returns the step that changes labels of this Node. */
        Step set(List<Label> changes) {
            return new Step.SetLabels(uid, version, changes);
        }

        /** Returns true if the pods of these GPUs have ended. */
        boolean drained(List<String> gpus) {
            return drained()
                    || drain.filter(each -> each.done().containsAll(gpus)).isPresent();
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
        return new Scene(resource, node, lock, job, Optional.of(read), ahead, gpus, settings, now, source);
    }

    Scene with(Optional<NodeFacts> watched) {
        return new Scene(resource, watched, lock, job, pods, ahead, gpus, settings, now, source);
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
                        time,
                        Source.ANSWERED))
                : Optional.empty();
    }

    /** Returns true if these facts are new enough for a step: one that acts on a node needs facts that were just read. */
    boolean suffices(Step step) {
        return switch (source) {
            case WATCHED -> step instanceof Step.Wait || step instanceof Step.Leave;
            case DELIVERED -> step.testsVersion();
            case ANSWERED -> !step.readsAll();
            case READ -> pods.isPresent() || !(step instanceof Step.ReadPods);
        };
    }

    Progress progress() {
        return resource.progress();
    }

    Progress.Change change() {
        return new Progress.Change(progress(), now);
    }

    /** Returns the change that begins the action. */
    Progress.Change begun() {
        return change().set("phase", "InProgress")
                .set("startTime", now.toString())
                .set("observedGeneration", resource.generation())
                .set("nodeUID", node.map(NodeFacts::uid).orElse(""));
    }

    /** Returns the status at the end of an action. */
    Step ended(Progress.Change change, Step.End end) {
        if (resource.cancelled()) {
            change.condition("Terminating", true, NotTried.CANCELLED, resource.cancellation());
        }
        return new Step.SetStatus(
                change.complete(resource.kind().doneCondition(), end.success(), end.reason(), end.message()));
    }

    /** Returns the Node if it is still the one for which the action began. */
    Optional<NodeFacts> sameNode() {
        return node.filter(each -> each.uid().equals(progress().nodeUid()));
    }

    /** Returns the reason why the Node is not the one for which the action began; empty if it is. */
    Optional<Step.End> lost() {
        if (sameNode().isPresent()) {
            return Optional.empty();
        }
        String name = resource.node();
        return Optional.of(
                node.isEmpty()
                        ? Step.End.failed(
                                NotTried.NODE_NOT_FOUND,
                                "expected the Node " + name + ", seen none: it was deleted in the middle")
                        : Step.End.failed(
                                NotTried.NODE_REPLACED,
                                "Node " + name + ": expected UID " + progress().nodeUid() + ", seen "
                                        + node.get().uid() + ": it was created again"));
    }

    /** Returns the upgrade of the driver for which an action waits. A node that is given back needs no driver. */
    Optional<String> upgrade() {
        return resource.kind() == MaintenanceKind.TERMINATE_NODE
                ? Optional.empty()
                : node.flatMap(each -> DriverUpgrade.underWay(each.labels()))
                        .map(text -> "Node " + resource.node() + ": " + text);
    }

    JobRef ref(JobFacts of) {
        return new JobRef(settings.namespace(), resource.jobName(), of.uid());
    }

    /** Returns the Job of the resource that has not ended, whether its status refers to it or not. */
    Optional<JobRef> openJob() {
        return job.filter(each -> each.succeeded().isEmpty()).map(this::ref);
    }

    /**
     * Returns true if the pod of the resource's Job is on the node and its program may have begun. Then the program itself
     * decides. False before the kubelet has started it: its Job can be stopped, and has done nothing.
     */
    boolean mayHaveBegun() {
        return pods.orElseThrow().stream()
                .filter(each -> resource.uid().equals(each.pod().labels().get(Maintenance.OF)))
                .anyMatch(NodePod::begun);
    }

    /** Returns the time after which a Job that was started is stopped. */
    Instant limit(JobFacts of) {
        return of.begun().plus(settings.times().jobLimit());
    }

    /**
     * Returns the wait before facts that no watch brings are read again.
     *
     * @param since begin of the wait
     * @param end limit of the wait
     */
    Step again(Instant since, Instant end) {
        return new Step.Wait(settings.times().pause(Duration.between(since, now), Duration.between(now, end)));
    }
}
