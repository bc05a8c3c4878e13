package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.janitor.JanitorSettings.RebootProvider;
import dev.gpuwarden.aggregator.janitor.WorldResource.Job;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.ServiceLabels;
import dev.gpuwarden.aggregator.provider.NodeProvider.Answer;
import dev.gpuwarden.api.kube.DriverUpgrade;
import dev.gpuwarden.api.kube.ForeignJanitor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;

/** All that acts on a node beside the janitor: operators, kubelet, the Job controller, the GPU Operator and the provider. */
final class OtherActors {

    private static final RebootProvider[] WAYS = {
        RebootProvider.JOB, RebootProvider.JOB, RebootProvider.COMMAND, RebootProvider.PROVIDER
    };

    final Random random;
    final JanitorWorld world;
    final List<String> history = new ArrayList<>();
    /** True once an operator has done what no janitor can keep apart: removed the lock, or relabelled the node. */
    boolean meddled;

    /** The number of acts that were withheld on the node. */
    int withheld;

    private final Consumer<WorldResource> begins;
    /** The resources whose request the provider carries out later. */
    private final List<WorldResource> requested = new ArrayList<>();
    /** The turns for each act of an operator or a failure, from twenty to six hundred for all of them. */
    private final int rareness;

    /** @param begins receives each resource whose action begins: by the provider in the middle of the request, or by its program */
    OtherActors(long seed, Consumer<WorldResource> begins) {
        this.begins = begins;
        random = new Random(seed * 0x9E3779B97F4A7C15L);
        rareness = 20 << random.nextInt(6);
        RebootProvider way = WAYS[random.nextInt(WAYS.length)];
        world = way == RebootProvider.PROVIDER ? new JanitorWorld(this::asked) : new JanitorWorld(way);
        for (String service : ServiceLabels.LABELS) {
            if (random.nextInt(3) > 0) {
                world.labels.put(service, "true");
                world.podReady.put(service, true);
            }
        }
        MaintenanceKind[] kinds = {
            MaintenanceKind.GPU_RESET,
            MaintenanceKind.REBOOT_NODE,
            way == RebootProvider.JOB ? MaintenanceKind.GPU_RESET : MaintenanceKind.TERMINATE_NODE
        };
        for (int i = 0; i <= random.nextInt(3); i++) {
            world.add(kinds[random.nextInt(3)]);
        }
    }

    /** The provider accepts, refuses, or gives no answer; then it may have acted. The janitor may be killed before the answer. */
    private Optional<Answer> asked(WorldResource resource) {
        resource.starts++;
        resource.acts++;
        begins.accept(resource);
        int way = random.nextInt(6);
        history.add("the provider is asked for " + resource.uid + ", way " + way);
        if (way < 4) {
            requested.add(resource);
        }
        return switch (way) {
            case 0, 1 -> Optional.of(new Answer.Accepted("id"));
            case 2, 5 -> Optional.of(new Answer.Unknown("no answer"));
            case 3 -> Optional.empty();
            default -> Optional.of(new Answer.Refused("no"));
        };
    }

    /** The provider carries out its oldest request. */
    void provide() {
        if (!requested.isEmpty()) {
            WorldResource resource = requested.remove(0);
            act("the provider acts for " + resource.uid, () -> {
                world.node &= resource.kind != MaintenanceKind.TERMINATE_NODE;
                world.bootId = "boot-of-" + resource.uid;
                world.ready = true;
            });
        }
    }

    /** Some act, or none. */
    void act() {
        WorldResource resource = world.resources.get(random.nextInt(world.resources.size()));
        if (random.nextInt(8) == 0) {
            resource.job.filter(Job::runs).ifPresent(job -> end(resource, job, random.nextInt(3) > 0));
        }
        if (random.nextInt(3) == 0) {
            resource.job.filter(Job::runs).ifPresent(job -> job.begunOnNode = true);
        }
        if (random.nextInt(6) == 0) {
            operate();
        }
        if (random.nextInt(8) == 0) {
            provide();
        }
        world.now = world.now.plusSeconds(1);
        switch (random.nextInt(rareness)) {
            case 0 -> act("deletes " + resource.uid, () -> world.delete(resource));
            case 1 -> act("changes " + resource.uid, () -> world.changeSpec(resource));
            case 2 -> act("uncordons", () -> cordon(false));
            case 3 -> act("cordons", () -> cordon(true));
            case 4 -> act("recreates the node", this::recreate);
            case 5 -> act("reboots", () -> world.bootId = "boot-" + random.nextInt(1000));
            case 6 -> act("stops the node", () -> world.ready = !world.ready);
            case 7 -> act("time passes", () -> world.now = world.now.plus(Duration.ofMinutes(random.nextInt(40))));
            case 8 -> act("deletes the job of " + resource.uid, () -> resource.job = Optional.empty());
            case 9 ->
                act("removes the lock", () -> {
                    meddled |= world.isLocked();
                    world.unlock();
                });
            case 10 -> act("deletes the node", () -> world.node = false);
            case 11 ->
                act("removes the finalizer of " + resource.uid, () -> {
                    meddled |= resource.deleted;
                    world.force(resource);
                });
            case 12 ->
                act("another program takes the lock", () -> {
                    // A request that is late cannot be taken back: the provider has no test of its own.
                    meddled |= world.settings.reboot() == RebootProvider.PROVIDER;
                    world.steal();
                });
            case 13 -> act("the other program releases the lock", this::returnLock);
            case 14 ->
                act(
                        "another controller suspends the job of " + resource.uid,
                        () -> resource.job.filter(Job::runs).ifPresent(job -> {
                            job.suspended = true;
                            job.begunOnNode = false;
                            job.version++;
                        }));
            case 15 -> act("pods come and go", () -> world.tenants = random.nextInt(2));
            case 16 ->
                share("adds its finalizer to", resource, () -> {
                    resource.finalizers.add(ForeignJanitor.FINALIZER);
                    resource.changed();
                });
            case 17 -> share("writes the status of", resource, () -> resource.writtenByOther(status(resource)));
            case 19 ->
                act("the operator upgrades the driver", () -> {
                    world.labels.put(
                            DriverUpgrade.LABEL, random.nextBoolean() ? "pod-restart-required" : "upgrade-done");
                    world.nodeVersion++;
                });
            case 18 -> act("the definitions change", () -> world.resources.forEach(each -> each.kept = kept()));
            default -> {}
        }
    }

    private void share(String what, WorldResource resource, Runnable act) {
        if (!resource.gone && !resource.ended()) {
            resource.shared = true;
            act("another janitor " + what + " " + resource.uid, act);
        }
    }

    /** Returns what another janitor writes: its begin, a step in the middle, or the end of all. */
    private Map<String, Object> status(WorldResource resource) {
        return switch (random.nextInt(3)) {
            case 0 -> Map.of("startTime", world.now.toString());
            case 1 -> with(resource, "ResetJobCompleted");
            default -> ended(resource);
        };
    }

    private Map<String, Object> ended(WorldResource resource) {
        Map<String, Object> end = new HashMap<>(with(resource, resource.kind.doneCondition()));
        end.put("completionTime", world.now.toString());
        return end;
    }

    /** Returns the conditions with another one that is True. */
    private Map<String, Object> with(WorldResource resource, String type) {
        Progress.Change change = new Progress.Change(Progress.of(resource.status), world.now);
        return Map.of(
                "conditions",
                change.condition(type, true, "Theirs", "by another janitor")
                        .tree()
                        .get("conditions"));
    }

    /** Returns the fields of a status that the definitions keep: all, those of NVSentinel's, or no conditions. */
    private Set<String> kept() {
        return switch (random.nextInt(4)) {
            case 0 -> Set.of();
            case 1 -> Set.of("startTime", "completionTime", "phase");
            default -> Set.of("startTime", "completionTime", "conditions");
        };
    }

    /** The other janitor ends what is its own, and is switched off. */
    void returnResources() {
        world.labels.remove(DriverUpgrade.LABEL);
        for (WorldResource resource : world.resources) {
            if (resource.finalizers.remove(ForeignJanitor.FINALIZER)) {
                resource.changed();
            }
            Maintenance read = resource.read();
            if (resource.shared && !resource.gone && !read.progress().isRecorded() && !resource.ended()) {
                resource.writtenByOther(ended(resource));
            }
            if (resource.shared
                    && resource.ended()
                    && resource.finalizers.isEmpty()
                    && world.holder().filter(holder -> holder == resource).isPresent()) {
                world.unlock();
            }
        }
    }

    void returnLock() {
        if (world.isStolen()) {
            world.unlock();
        }
    }

    private void cordon(boolean cordoned) {
        world.cordoned = cordoned;
        world.nodeVersion++;
    }

    private void recreate() {
        world.node = true;
        world.nodeUid += "-again";
        world.nodeVersion += 1000;
        world.labels.remove(DriverUpgrade.LABEL);
        world.labels.replaceAll((label, value) -> "true");
    }

    private void act(String what, Runnable act) {
        history.add(what);
        act.run();
    }

    /** The program tests again just before it acts, and acts, or fails to; or does nothing. */
    void end(WorldResource resource, Job job, boolean success) {
        job.begunOnNode = true;
        job.version++;
        if (!mayAct(resource)) {
            history.add("job of " + resource.uid + " withholds its act");
            withheld++;
            job.succeeded = Optional.of(false);
            job.exitCode = Optional.of(4);
            job.message = "withheld: a reason";
            return;
        }
        history.add("job of " + resource.uid + (success ? " succeeds" : " fails"));
        resource.acts++;
        begins.accept(resource);
        job.succeeded = Optional.of(success);
        if (success && resource.kind == MaintenanceKind.TERMINATE_NODE) {
            world.node = false;
        }
        if (success && resource.kind == MaintenanceKind.REBOOT_NODE) {
            world.bootId = "boot-of-" + job.uid;
            world.ready = true;
        }
    }

    /** Returns true if the program on the node may act. */
    private boolean mayAct(WorldResource resource) {
        Maintenance read = resource.read();
        return world.node
                && world.cordoned
                && (!world.isUpgraded() || resource.kind == MaintenanceKind.TERMINATE_NODE)
                && world.nodeUid.equals(read.progress().nodeUid())
                && world.holder().filter(holder -> holder == resource).isPresent()
                && read.inProgress()
                && read.foreign().isEmpty()
                && !read.cancelled()
                && read.progress().condition("ResetJobCompleted").isEmpty()
                && resource.acts == 0;
    }

    /** The GPU Operator follows the labels, one service at a time. */
    void operate() {
        for (String service : ServiceLabels.LABELS) {
            if ("true".equals(world.labels.get(service))) {
                world.podReady.put(service, true);
            } else {
                world.podReady.remove(service);
            }
        }
    }
}
