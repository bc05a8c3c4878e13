package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Result;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Walked;
import dev.gpuwarden.aggregator.janitor.JanitorWalk.Write;
import dev.gpuwarden.aggregator.janitor.JobReader.JobFacts;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.janitor.Progress.Condition;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A walk of the janitor's steps for a resource that does not exist, in which all pods end and each Job succeeds. It ends where
 * the janitor would refuse, wait for another program, or finish.
 */
public final class JanitorRehearsal {

    /** More than any kind of resource needs. */
    private static final int MOST = 60;

    private static final String UID = "00000000-0000-0000-0000-000000000000";
    private static final String REBOOTED = "another boot";

    private final JanitorSettings settings;
    private final List<Maintenance> ahead;
    private final List<Map<String, Object>> podTrees;
    private final ReportedGpus gpus;
    private final List<Walked> steps = new ArrayList<>();
    private Instant now;
    private Maintenance resource;
    private NodeFacts node;
    private Lock lock;
    private Optional<JobFacts> job = Optional.empty();

    /** @param ahead the other resources of the node that are in progress */
    JanitorRehearsal(
            Maintenance resource,
            NodeFacts node,
            Lock lock,
            List<Maintenance> ahead,
            List<Map<String, Object>> pods,
            ReportedGpus gpus,
            JanitorSettings settings,
            Instant now) {
        this.resource = resource;
        this.node = node;
        this.lock = lock;
        this.ahead = ahead;
        this.podTrees = pods;
        this.gpus = gpus;
        this.settings = settings;
        this.now = now;
    }

    /**
     * Reads the lock of the node, and walks through the steps. Blocks for the API server.
     *
     * @param made the resource, as the API server returned it
     * @param node the Node when the drain has ended
     * @param existing the other resources by kind, as the API server returned them
     * @param pods all pods of the node, as the API server returned them
     * @param gpus the GPUs that the node reports
     */
    public static JanitorWalk of(
            KubeClient api,
            MaintenanceKind kind,
            Map<String, Object> made,
            Map<String, Object> node,
            Map<MaintenanceKind, List<Map<String, Object>>> existing,
            List<Map<String, Object>> pods,
            ReportedGpus gpus,
            JanitorSettings settings,
            Instant now)
            throws ApiException, InterruptedException {
        Maintenance resource = Maintenance.of(kind, made);
        Lock lock = new NodeLock(api, settings.lockNamespace()).read(resource.node(), resource.uid());
        List<Maintenance> ahead = new ArrayList<>();
        existing.forEach((of, trees) -> trees.stream()
                .map(tree -> Maintenance.of(of, tree))
                .filter(other -> other.node().equals(resource.node()))
                .filter(Maintenance::inProgress)
                .filter(other -> other.begun() || other.foreign().isEmpty())
                .forEach(ahead::add));
        return new JanitorRehearsal(resource, NodeFacts.of(node), lock, ahead, pods, gpus, settings, now).walk();
    }

    JanitorWalk walk() {
        for (int count = 0; count < MOST; count++) {
            Step step = Steps.next(scene(Optional.empty()));
            if (step instanceof Step.ReadPods) {
                step = Steps.next(scene(Optional.of(pods())));
            }
            if (step instanceof Step.Leave leave) {
                return new JanitorWalk(steps, Result.FAILS, leave.reason());
            }
            if (step instanceof Step.Wait && !resource.inProgress()) {
                return end();
            }
            if (!(step instanceof Step.Wait)) {
                make(step);
            } else if (!passes()) {
                return new JanitorWalk(steps, Result.WAITS, waits());
            }
        }
        return new JanitorWalk(steps, Result.FAILS, "the janitor would not end within " + MOST + " steps");
    }

    private JanitorWalk end() {
        Condition done =
                resource.progress().condition(resource.kind().doneCondition()).orElseThrow();
        return new JanitorWalk(
                steps, done.isTrue() ? Result.SUCCEEDS : Result.FAILS, done.reason() + ": " + done.message());
    }

    private String waits() {
        return resource.progress().conditions().stream()
                .filter(each -> !each.isTrue())
                .map(Condition::message)
                .reduce((first, last) -> last)
                .orElse("the janitor would wait");
    }

    private Scene scene(Optional<List<NodePod>> pods) {
        return new Scene(resource, Optional.of(node), lock, job, pods, ahead, gpus, settings, now, Scene.Source.READ);
    }

    /** Returns the pods; those of stopped services, and those that the drain ends, have ended. */
    private List<NodePod> pods() {
        boolean drained = node.drained()
                || node.drained(resource.uuids()) && !resource.uuids().isEmpty();
        return podTrees.stream()
                .map(NodePod::of)
                .filter(pod -> !drained || !pod.pod().wantsGpu())
                .filter(pod -> pod.pod().services().stream()
                        .noneMatch(label ->
                                MaintenanceKind.PAUSED.equals(node.labels().get(label))))
                .toList();
    }

    /** Lets the awaited thing happen. Returns false if no time brings it. */
    private boolean passes() {
        if (job.isPresent() && !job.get().suspended() && job.get().succeeded().isEmpty()) {
            JobFacts was = job.get();
            now = now.plusSeconds(1);
            job = Optional.of(new JobFacts(
                    was.uid(), was.version(), was.begun(), true, false, Optional.of(true), Optional.of(0), ""));
            if (resource.kind() == MaintenanceKind.REBOOT_NODE) {
                rebooted();
            }
            return true;
        }
        if (resource.kind() == MaintenanceKind.REBOOT_NODE
                && (settings.reboot() == RebootProvider.EXTERNAL || settings.reboot() == RebootProvider.PROVIDER)
                && resource.progress().started().isPresent()) {
            note(
                    (settings.reboot() == RebootProvider.EXTERNAL ? "another program" : "the provider")
                            + " reboots the node, and the Node is ready with another boot ID",
                    settings.times().reboot());
            rebooted();
            return true;
        }
        return false;
    }

    private void rebooted() {
        node = new NodeFacts(
                node.uid(), node.version(), node.unschedulable(), node.labels(), node.drain(), REBOOTED, true);
    }

    // ---- the steps ----

    private void make(Step step) {
        if (step instanceof Step.AddFinalizer) {
            resource = with(List.of(Maintenance.FINALIZER), resource.progress());
            add("add the finalizer " + Maintenance.FINALIZER + " to " + resource.title());
        } else if (step instanceof Step.RemoveFinalizer) {
            resource = with(List.of(), resource.progress());
            add("remove the finalizer; the resource is kept for "
                    + settings.times().keep().toHours() + " h");
        } else if (step instanceof Step.TakeLock) {
            lock = new Lock(Lock.State.OURS, UID, resource.title());
            ResourceKind leases = MaintenanceKind.locks(settings.lockNamespace());
            add(
                    "lock the node: create Lease " + settings.lockNamespace() + "/" + resource.node(),
                    Optional.empty(),
                    new Write.Create(leases.path(), NodeLock.lease(leases, resource)));
        } else if (step instanceof Step.ReleaseLock) {
            lock = Lock.FREE;
            add("unlock the node: delete its Lease");
        } else if (step instanceof Step.SetStatus status) {
            status(status.change());
        } else if (step instanceof Step.SetLabels labels) {
            labels(labels);
        } else if (step instanceof Step.Request request) {
            request(request);
        } else {
            job(step);
        }
    }

    /** Makes the write of a status. It is no step of its own, since the steps show its content. */
    private void status(Progress.Change change) {
        Map<String, Object> tree = new LinkedHashMap<>(statusTree(resource.progress()));
        tree.putAll(change.tree());
        resource = with(resource.finalizers(), Progress.of(tree));
    }

    private static Map<String, Object> statusTree(Progress progress) {
        Map<String, Object> tree = progress.recorded();
        progress.started().ifPresent(at -> tree.put("startTime", at.toString()));
        tree.put("phase", progress.phase());
        return tree;
    }

    private void labels(Step.SetLabels change) {
        Map<String, String> labels = new LinkedHashMap<>(node.labels());
        change.labels().forEach(label -> labels.put(label.key(), label.after()));
        boolean stops = change.stops();
        node = new NodeFacts(
                node.uid(), node.version(), node.unschedulable(), labels, node.drain(), node.bootId(), node.ready());
        String keys = Acceptance.names(
                change.labels().stream().map(Step.SetLabels.Label::key).sorted().toList());
        add(
                (stops ? "stop the services of the GPU Operator: label " : "start them again: label ") + keys + "="
                        + change.labels().get(0).after(),
                Optional.of(
                        stops ? settings.times().teardown() : settings.times().restore()),
                // The labels return to values that the Node has now, so only the first patch can be validated.
                stops ? new Write.PatchNode(StepWriter.operations(change)) : new Write.None());
    }

    private void job(Step step) {
        String name = "Job " + settings.namespace() + "/" + resource.jobName();
        if (step instanceof Step.CreateJob) {
            job = Optional.of(new JobFacts(UID, "", now, false, true, Optional.empty(), Optional.empty(), ""));
            add(
                    "create " + name + ", suspended",
                    Optional.empty(),
                    new Write.Create(Jobs.kind(settings.namespace()).path(), Jobs.of(resource, settings)));
        } else if (step instanceof Step.StartJob) {
            job = job.map(was -> new JobFacts(
                    was.uid(), was.version(), was.begun(), true, false, Optional.empty(), Optional.empty(), ""));
            boolean reset = resource.kind() == MaintenanceKind.GPU_RESET;
            note(
                    "start it: it "
                            + (reset
                                    ? "resets and verifies " + String.join(", ", resource.uuids())
                                    : "requests the reboot, and the Node is ready with another boot ID"),
                    reset ? settings.times().job() : settings.times().reboot());
        } else if (step instanceof Step.StopJob) {
            job = Optional.empty();
            add("delete the Job");
        } else {
            throw new IllegalStateException("expected a step with a write, found " + step);
        }
    }

    private void add(String text) {
        add(text, Optional.empty(), new Write.None());
    }

    private void note(String text, Duration most) {
        add(text, Optional.of(most), new Write.None());
    }

    private void add(String text, Optional<Duration> most, Write write) {
        steps.add(new Walked(text, most, write));
    }

    private void request(Step.Request request) {
        String what = resource.kind() == MaintenanceKind.REBOOT_NODE ? "the reboot" : "the end";
        status(request.intention());
        status(NodeSignal.answered(
                new Progress.Change(resource.progress(), now), new NodeProvider.Answer.Accepted("")));
        note("ask the provider for " + what + " of Node " + resource.node(), Duration.ofSeconds(30));
    }

    private Maintenance with(List<String> finalizers, Progress progress) {
        return new Maintenance(
                resource.kind(),
                resource.name(),
                resource.uid(),
                resource.version(),
                resource.generation(),
                resource.created(),
                resource.deleted(),
                finalizers,
                resource.statusManagers(),
                resource.annotations(),
                resource.node(),
                resource.uuids(),
                resource.addresses(),
                resource.force(),
                progress,
                resource.creator());
    }
}
