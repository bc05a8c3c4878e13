package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.JanitorTimes;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.NodeCommand;
import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.NodePod;
import dev.gpuwarden.aggregator.janitor.Scene.Written;
import dev.gpuwarden.aggregator.janitor.WorldResource.Job;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.pods.SystemNamespaces;
import dev.gpuwarden.aggregator.provider.NodeProvider.Answer;
import dev.gpuwarden.api.kube.DriverUpgrade;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;

/** One node, its lock, and resources with their Jobs, with the preconditions of an API server: a late write finds what is there then. */
final class JanitorWorld {

    static final String NODE = "node-1";
    static final JanitorSettings SETTINGS = settings(RebootProvider.JOB);

    private static JanitorSettings settings(RebootProvider reboot) {
        return new JanitorSettings(
                "gpuwarden",
                "gpuwarden",
                "image",
                reboot,
                reboot == RebootProvider.COMMAND
                        ? Optional.of(new NodeCommand("power", List.of("cycle"), Optional.of("bmc")))
                        : Optional.empty(),
                SystemNamespaces.of("kube-system"),
                new JanitorTimes(
                        Duration.ofMinutes(5),
                        Duration.ofMinutes(10),
                        Duration.ofMinutes(10),
                        Duration.ofMinutes(30),
                        Duration.ofHours(1),
                        Duration.ofDays(14),
                        Duration.ofSeconds(1)));
    }

    final JanitorSettings settings;
    /** Returns the answer of the provider; empty if the janitor is killed while it waits. */
    private final Function<WorldResource, Optional<Answer>> provider;

    /** Creates a world in which Jobs reboot the node. */
    JanitorWorld() {
        this(RebootProvider.JOB);
    }

    /** Creates a world without a provider. */
    JanitorWorld(RebootProvider reboot) {
        this.settings = settings(reboot);
        this.provider = resource -> Optional.empty();
    }

    /** Creates a world with a provider. */
    JanitorWorld(Function<WorldResource, Optional<Answer>> provider) {
        this.settings = settings(RebootProvider.PROVIDER);
        this.provider = provider;
    }

    private record Lease(String uid, String owner) {}

    /** The owner of a lock that another program has. */
    private static final String STRANGER = "another-program";

    /** The time of the API server. */
    Instant now = Instant.parse("2026-06-01T00:00:00Z");
    /** The time of the replica that decides. */
    Supplier<Instant> time = () -> now;

    final List<WorldResource> resources = new ArrayList<>();
    final Map<String, String> labels = new TreeMap<>();
    final Map<String, Boolean> podReady = new TreeMap<>();
    String nodeUid = "node-uid-1";
    String bootId = "boot-1";
    long nodeVersion;
    boolean node = true;
    boolean cordoned = true;
    boolean ready = true;
    ReportedGpus gpus = ReportedGpus.NONE;
    /** Pods of users with a GPU that has no name in their status. */
    int tenants;

    private Optional<Lease> lease = Optional.empty();
    private int ids;

    WorldResource add(MaintenanceKind kind) {
        WorldResource resource = new WorldResource(kind, "r" + ids++, now);
        resources.add(resource);
        return resource;
    }

    Scene scene(WorldResource resource, boolean pods) {
        return scene(resource, resource.read(), pods);
    }

    /** @param read the resource as a watch delivered it, perhaps long ago; all other facts are those of now */
    Scene scene(WorldResource resource, Maintenance read, boolean pods) {
        return new Scene(
                read,
                nodeFacts(),
                lock(resource),
                resource.job
                        .map(Job::facts)
                        .filter(any -> read.progress().started().isPresent()),
                pods ? Optional.of(pods()) : Optional.empty(),
                ahead(resource),
                gpus,
                settings,
                time.get(),
                Scene.Source.READ);
    }

    Optional<NodeFacts> nodeFacts() {
        return node
                ? Optional.of(new NodeFacts(
                        nodeUid,
                        Long.toString(nodeVersion),
                        cordoned,
                        Map.copyOf(labels),
                        Optional.empty(),
                        bootId,
                        ready))
                : Optional.empty();
    }

    List<Maintenance> ahead(WorldResource resource) {
        Maintenance read = resource.read();
        return resources.stream()
                .filter(other -> other != resource && !other.gone)
                .map(WorldResource::read)
                .filter(Maintenance::inProgress)
                .filter(other -> Maintenance.ORDER.compare(other, read) < 0
                        || other.progress().started().isPresent())
                .toList();
    }

    private Lock lock(WorldResource resource) {
        if (lease.isEmpty()) {
            return Lock.FREE;
        }
        String owner = lease.get().owner();
        if (owner.equals(STRANGER)) {
            return new Lock(Lock.State.FOREIGN, lease.get().uid(), "Deployment other, an owner of another program");
        }
        boolean there = resources.stream()
                .anyMatch(each ->
                        each.uid.equals(owner) && !each.gone && !each.read().released());
        Lock.State state = owner.equals(resource.uid) ? Lock.State.OURS : there ? Lock.State.OTHER : Lock.State.ORPHAN;
        return new Lock(state, lease.get().uid(), owner);
    }

    private List<NodePod> pods() {
        List<NodePod> pods = new ArrayList<>();
        podReady.forEach((label, isReady) -> pods.add(NodePod.of(Map.of(
                "metadata",
                Map.of(
                        "name",
                        "pod-" + pods.size(),
                        "namespace",
                        "gpu-operator",
                        "uid",
                        label,
                        "ownerReferences",
                        List.of(Map.of("kind", "DaemonSet", "name", "d", "uid", "d", "controller", true))),
                "spec",
                Map.of("nodeName", NODE, "nodeSelector", Map.of(label, "true")),
                "status",
                Map.of("conditions", List.of(Map.of("type", "Ready", "status", isReady ? "True" : "False")))))));
        for (int i = 0; i < tenants; i++) {
            pods.add(NodePod.of(tenant(i)));
        }
        resources.stream()
                .filter(each ->
                        each.job.filter(job -> job.runs() && job.begunOnNode).isPresent())
                .forEach(each -> pods.add(NodePod.of(program(each))));
        return pods;
    }

    private static Map<String, Object> tenant(int number) {
        return Map.of(
                "metadata",
                Map.of("name", "tenant-" + number, "namespace", "team", "uid", "tenant-" + number),
                "spec",
                Map.of(
                        "nodeName",
                        NODE,
                        "containers",
                        List.of(Map.of("name", "main", "resources", Map.of("limits", Map.of("nvidia.com/gpu", "1"))))),
                "status",
                Map.of("phase", "Running"));
    }

    /** The pod of a Job; the janitor's own namespace is one of the system here. */
    private static Map<String, Object> program(WorldResource resource) {
        return Map.of(
                "metadata",
                Map.of(
                        "name",
                        "action",
                        "namespace",
                        "kube-system",
                        "uid",
                        "pod-of-" + resource.uid,
                        "labels",
                        Map.of(Maintenance.OF, resource.uid)),
                "spec",
                Map.of("nodeName", NODE),
                "status",
                Map.of(
                        "phase",
                        "Running",
                        "containerStatuses",
                        List.of(Map.of("name", "action", "state", Map.of("running", Map.of())))));
    }

    /**
     * Makes the write of a step that was decided for this version of the resource, perhaps long ago. Returns the facts of its
     * answer; nothing if they must be read.
     */
    Written write(WorldResource resource, Step step, long version) {
        boolean same = !resource.gone && resource.version == version;
        if (step instanceof Step.AddFinalizer && same && !resource.deleted) {
            resource.finalizers.add(Maintenance.FINALIZER);
            return resource.answer();
        } else if (step instanceof Step.RemoveFinalizer && same) {
            resource.finalizers.remove(Maintenance.FINALIZER);
            return resource.answer();
        } else if (step instanceof Step.SetStatus status && same) {
            resource.status.putAll(status.change().tree());
            return resource.answer();
        } else if (step instanceof Step.Request request && same) {
            resource.status.putAll(request.intention().tree());
            resource.changed();
            Optional<Answer> answer = provider.apply(resource);
            if (answer.isPresent()) {
                Progress.Change change = new Progress.Change(resource.read().progress(), time.get());
                resource.status.putAll(NodeSignal.answered(change, answer.get()).tree());
                return resource.answer();
            }
        } else if (step instanceof Step.TakeLock && lease.isEmpty() && !resource.gone) {
            lease = Optional.of(new Lease("lease-" + ids++, resource.uid));
            return Written.of(lock(resource));
        } else if (step instanceof Step.ReleaseLock release) {
            lease = lease.filter(each -> !each.uid().equals(release.leaseUid()));
            return Written.of(Lock.FREE);
        } else if (step instanceof Step.SetLabels change
                && node
                && change.uid().equals(nodeUid)
                && change.version().equals(Long.toString(nodeVersion))
                && change.labels().stream().allMatch(each -> each.before().equals(labels.get(each.key())))) {
            change.labels().forEach(each -> labels.put(each.key(), each.after()));
            nodeVersion++;
        } else if (step instanceof Step.CreateJob && resource.job.isEmpty() && !resource.gone) {
            resource.job = Optional.of(new Job("job-" + ids++, now));
            return Written.of(resource.job.get().facts());
        } else if (step instanceof Step.StartJob start
                && resource.job
                        .filter(job -> job.uid.equals(start.job().uid()))
                        .filter(job -> Long.toString(job.version).equals(start.version()))
                        .isPresent()) {
            Job job = resource.job.get();
            resource.starts++;
            job.begun = time.get();
            job.startedAt = now;
            job.version++;
            job.suspended = false;
            job.started = true;
            return Written.of(job.facts());
        } else if (step instanceof Step.StopJob stop) {
            resource.job = resource.job.filter(job -> !job.uid.equals(stop.job().uid()));
        } else if (step instanceof Step.Delete && same) {
            resource.deleted = true;
            resource.changed();
        }
        return Written.NOTHING;
    }

    /** Another program takes the lock of the node, also a lock that a resource has. */
    void steal() {
        lease = Optional.of(new Lease("lease-" + ids++, STRANGER));
    }

    boolean isStolen() {
        return lease.filter(held -> held.owner().equals(STRANGER)).isPresent();
    }

    /** Returns true while the GPU Operator upgrades the driver. */
    boolean isUpgraded() {
        return DriverUpgrade.underWay(labels).isPresent();
    }

    boolean isLocked() {
        return lease.isPresent();
    }

    /** Removes the lock by hand. */
    void unlock() {
        lease = Optional.empty();
    }

    Optional<WorldResource> holder() {
        return lease.flatMap(held ->
                resources.stream().filter(each -> each.uid.equals(held.owner())).findFirst());
    }

    /** Deletes the resource, which stays until its finalizer is gone. */
    void delete(WorldResource resource) {
        resource.deleted = true;
        resource.changed();
    }

    /** Removes the finalizer of a deleted resource by hand. Its lock stays, until this program sees it or the API server collects it. */
    void force(WorldResource resource) {
        if (resource.deleted && !resource.gone) {
            resource.finalizers.clear();
            resource.changed();
        }
    }

    void changeSpec(WorldResource resource) {
        resource.generation++;
        resource.changed();
    }
}
