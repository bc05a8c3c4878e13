package dev.gpuwarden.aggregator.janitor;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.Reconciler;
import dev.gpuwarden.aggregator.janitor.NodeLock.Lock;
import dev.gpuwarden.aggregator.janitor.Scene.NodeFacts;
import dev.gpuwarden.aggregator.janitor.Scene.Source;
import dev.gpuwarden.aggregator.janitor.Scene.Written;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder.NodeEvent;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The reconciler of the maintenance of a node: it carries out its resources in the order of their creation, one at a time. A
 * step that acts needs facts that the API server has just returned, so a replica that no longer leads does nothing old. Thread-safe.
 */
public final class Janitor implements Reconciler {

    private static final System.Logger LOG = System.getLogger(Janitor.class.getName());

    /** More steps than a resource needs from its begin to its end. */
    private static final int MOST_STEPS = 50;

    private final MaintenanceCache cache;
    private final NodeLock locks;
    private final SceneReader reader;
    private final StepWriter writer;
    private final NodeEventRecorder events;
    private final Clock clock;
    private final BiConsumer<String, Duration> later;
    private final MaintenanceAuditLog audits;
    private final JanitorMetrics metrics = new JanitorMetrics();
    /** The last facts of each Node with maintenance. Most changes, as of its conditions, are none of these. */
    private final Map<String, Optional<NodeFacts>> nodes = new ConcurrentHashMap<>();
    /** The facts with which the resource in progress of a node waits for its Job or its Node. */
    private final Map<String, Scene> waits = new ConcurrentHashMap<>();
    /** The reason why a resource is left to another janitor, by UID. */
    private final Map<String, String> left = new ConcurrentHashMap<>();

    /**
     * Creates a janitor.
     *
     * @param provider carries out reboots and terminations if the settings refer to one
     * @param gpus returns the GPUs that a node reports
     * @param clock clock of the API server: a successor compares the times that this one writes
     * @param later adds a node to the work queue after a delay
     * @param audits receives each action before it begins, and after its end; an action that it cannot record does not begin
     */
    public Janitor(
            KubeClient api,
            MaintenanceCache cache,
            JanitorSettings settings,
            NodeProvider provider,
            Function<String, ReportedGpus> gpus,
            Clock clock,
            BiConsumer<String, Duration> later,
            Consumer<AuditLog.Entry> audits) {
        this.clock = clock;
        this.cache = cache;
        this.locks = new NodeLock(api, settings.lockNamespace());
        JobReader jobs = new JobReader(api, settings.namespace());
        this.reader = new SceneReader(api, cache, settings, locks, jobs, gpus, this.clock);
        this.writer = new StepWriter(api, locks, jobs, settings, provider, this.clock, System::nanoTime);
        this.events = new NodeEventRecorder(api);
        this.later = later;
        this.audits = new MaintenanceAuditLog(audits);
    }

    public JanitorMetrics metrics() {
        return metrics;
    }

    /** Returns the number of resources that are left to another janitor. */
    public int foreign() {
        return left.size();
    }

    /** Returns the holder of the lock of a node; empty if none has it, or its owner has ended. Blocks for the API server. */
    public Optional<String> lockHolder(String node) throws ApiException, InterruptedException {
        Lock lock = locks.read(node, "");
        return lock.state() == Lock.State.FREE || lock.state() == Lock.State.ORPHAN
                ? Optional.empty()
                : Optional.of(lock.holder());
    }

    /** Returns true if a change of a Node may matter to its maintenance. Called in the order of the changes. */
    public boolean concerns(String name, Optional<CachedNode> node) {
        if (!cache.busy(name)) {
            nodes.remove(name);
            waits.remove(name);
            return false;
        }
        Optional<NodeFacts> now = node.map(each -> NodeFacts.of(each.tree()).withoutVersion());
        return !now.equals(nodes.put(name, now));
    }

    @Override
    public void reconcile(String node) throws ApiException, InterruptedException {
        boolean again = true;
        Duration soonest = Step.Wait.LATER;
        boolean waits = false;
        while (again) {
            again = false;
            soonest = Step.Wait.LATER;
            waits = false;
            List<Maintenance> all = cache.ofNode(node);
            for (Maintenance each : all) {
                Turn turn = turn(each);
                // A turn ends with a wait, so only the node's other resources can go on after its writes.
                again |= turn.wrote() && all.stream().anyMatch(other -> other.isBusy() && other != each);
                if (turn.pause().isPresent()) {
                    waits = true;
                    Duration wait = turn.pause().get();
                    soonest = wait.compareTo(soonest) < 0 ? wait : soonest;
                }
            }
        }
        releaseOrphan(node);
        if (waits) {
            later.accept(node, soonest);
        }
    }

    /** Releases the lock of a resource that was deleted by force. */
    private void releaseOrphan(String node) throws ApiException, InterruptedException {
        if (cache.takeDeleted(node)) {
            Lock lock = locks.read(node, "");
            if (lock.state() == Lock.State.ORPHAN) {
                locks.release(node, lock.leaseUid());
            }
        }
    }

    /** @param pause the time after which the resource needs another turn; empty if only a change matters */
    private record Turn(boolean wrote, Optional<Duration> pause) {}

    /** Makes the steps of a resource until it must wait. */
    private Turn turn(Maintenance known) throws ApiException, InterruptedException {
        if (!known.isBusy()) {
            left.remove(known.uid());
        }
        Optional<Scene> facts = Optional.of(reader.begin(known, waitsFor(known)));
        boolean wrote = false;
        int writes = 0;
        while (facts.isPresent()) {
            Scene scene = facts.get();
            Step step = Steps.next(scene);
            if (!scene.suffices(step)) {
                facts = reader.more(scene);
            } else if (step instanceof Step.Wait wait) {
                left.remove(known.uid());
                remember(scene);
                return new Turn(wrote, Optional.of(wait.most()));
            } else if (step instanceof Step.Leave leave) {
                return new Turn(wrote, leave(known, leave));
            } else {
                Optional<Written> written = write(scene.resource(), step);
                writes++;
                if (writes == MOST_STEPS
                        || step instanceof Step.SetStatus && storedNothing(scene.resource(), written)) {
                    report(scene.resource(), scene.resource().notKept("of its last step"));
                    // Not as a write: another resource like this one would get a turn for it, and this one for the
                    // other's, without end.
                    return new Turn(false, Optional.of(Step.Wait.LATER));
                }
                wrote = true;
                facts = reader.after(scene, written);
            }
        }
        return new Turn(wrote, Optional.empty());
    }

    /** Makes the write of a step, and records it. Returns the facts of its answer; empty if another writer was first. */
    private Optional<Written> write(Maintenance resource, Step step) throws ApiException, InterruptedException {
        audits.before(resource, step, clock.instant());
        Optional<Written> written = writer.write(resource, step);
        if (written.isPresent()) {
            metrics.wrote(resource, step);
            audits.after(resource, step, clock.instant());
        }
        written.flatMap(Written::resource).ifPresent(cache::answered);
        return written;
    }

    /** Returns true if the API server has kept nothing of a write: a write that changes something gives the object another version. */
    private static boolean storedNothing(Maintenance before, Optional<Written> written) {
        return written.flatMap(Written::resource)
                .filter(now -> now.version().equals(before.version()))
                .isPresent();
    }

    /** Facts that needed the pods lead to no wait without them, so the next turn reads all again. */
    private void remember(Scene scene) {
        if (scene.pods().isPresent()) {
            waits.remove(scene.resource().node());
        } else if (scene.source() != Source.WATCHED
                && scene.resource().inProgress()
                && scene.job().isPresent()) {
            waits.put(scene.resource().node(), scene);
        }
    }

    /**
     * Returns the facts with which a resource waits for its Job or its Node, with the Node that its watch has brought since; empty if
     * it does not. Facts of a watch can be old, so they lead to a wait alone, and for a limited time.
     */
    private Optional<Scene> waitsFor(Maintenance known) {
        return Optional.ofNullable(waits.get(known.node()))
                .filter(before -> before.resource().uid().equals(known.uid()))
                .filter(before ->
                        Duration.between(before.now(), clock.instant()).compareTo(Step.Wait.LATER) < 0)
                .map(before -> before.with(nodes.getOrDefault(known.node(), before.node())));
    }

    /** Returns the time after which a resource that is left to another janitor needs another turn; empty for one that has ended. */
    private Optional<Duration> leave(Maintenance known, Step.Leave step) throws ApiException, InterruptedException {
        if (!known.isBusy()) {
            return Optional.empty();
        }
        report(known, step.reason());
        return Optional.of(Step.Wait.LATER);
    }

    /**
     * Reports, once for each reason, that nothing is done, because another janitor acts or no step has an effect. Its reader may not
     * have the leader's log.
     */
    private void report(Maintenance resource, String reason) throws ApiException, InterruptedException {
        if (!reason.equals(left.get(resource.uid()))) {
            String text = resource.title() + ": nothing is done: " + reason;
            String node = resource.node();
            events.write(
                    node,
                    List.of(NodeEvent.of(
                            node, resource.uid(), false, "MaintenanceLeftToOthers", text, resource.created())));
            LOG.log(System.Logger.Level.WARNING, text);
            left.put(resource.uid(), reason);
        }
    }
}
