package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeRetries;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.Reconciler;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.drain.DrainEvents.DrainText;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPolicies.DrainTimes;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalRequest;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.pods.PodEviction;
import dev.gpuwarden.aggregator.pods.PodView;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The reconciler of drains: it evicts pods from quarantined nodes until no pod keeps the drain open. All state is on the Node
 * and in the API server's pods, and each reconciliation begins with both. It does not poll: a node is reconciled when the node
 * or one of its pods changes, or at a given time. Thread-safe; one thread reconciles a node.
 */
public final class DrainReconciler implements Reconciler, LeaderListener, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(DrainReconciler.class.getName());

    private static final int MOST_OF_A_NODE = 8;
    /** Interval of lists of the pods of drained nodes whose pods are not watched. */
    private static final Duration LIST_AGAIN = Duration.ofMinutes(5);

    /** Limit for the watch to deliver the change of another writer. */
    private static final Duration WATCH = Duration.ofSeconds(1);

    /**
     * @param armed true to evict pods; false for a dry run, which decides and reports only
     * @param force true if senders may request that all pods leave immediately, whatever the policies are
     * @param processes true if pods leave whose processes have a GPU of the drain open, also without a request
     */
    public record Settings(boolean armed, DrainPolicies policies, DrainTimes times, boolean force, boolean processes) {}

    private final KubeClient api;
    private final NodeCache cache;
    private final Settings settings;
    private final GpuHolderSource gpuPods;
    private final Clock clock;
    private final DrainAuditLog log;
    private final Consumer<String> written;
    private final PodEvictor removals;
    private final WorkloadGroups together;
    private final DrainMetrics metrics = new DrainMetrics();
    private final FollowedNodes followed;
    private final NodeRetries retries;
    private final WorkQueue queue;
    /** The result of the dry run of each node, so that its pods are not listed again. */
    private final Map<String, DrainDryRun> rehearsed = new ConcurrentHashMap<>();

    private final DrainReasons reasons;

    private volatile boolean open;

    /**
     * @param audits receiver of each decision before it is carried out, and of its results
     * @param written receiver of the name of each node that was written, whose cached version may be old
     */
    public DrainReconciler(
            Replica replica,
            Settings settings,
            GpuHolderSource gpuPods,
            WorkQueue queue,
            Consumer<AuditLog.Entry> audits,
            Consumer<String> written) {
        this.api = replica.api();
        this.cache = replica.cache();
        this.settings = settings;
        this.gpuPods = gpuPods;
        this.queue = queue;
        this.clock = api.clock();
        this.log = new DrainAuditLog(audits);
        this.written = written;
        this.reasons = new DrainReasons(new ActCheck(api, cache, clock), cache, settings.force());
        this.removals = new PodEvictor(
                new PodEviction(api, settings.policies().grace(), false),
                new SignalRequests(api, cache, clock),
                clock,
                log,
                metrics,
                queue::add,
                () -> open,
                reasons::again);
        this.retries = new NodeRetries(api, cache);
        this.followed = new FollowedNodes(api, queue::add, settings.times().retry());
        this.together = new WorkloadGroups(queue::add);
        cache.follow((node, health) -> {
            if (followed.has(node) && SignalRequest.any(health) || reasons.isNew(node, health)) {
                queue.add(node);
            }
        });
    }

    @Override
    public void begin() {
        open = true;
    }

    /** Ends evictions and watches of pods, because another replica leads now. */
    @Override
    public void end() {
        open = false;
        followed.names().forEach(this::forget);
        reasons.forget();
        rehearsed.clear();
    }

    DrainMetrics metrics() {
        return metrics;
    }

    /** Returns the number of nodes whose drain is under way. */
    public int nodes() {
        return followed.underWay().size();
    }

    /** Returns the number of pods whose eviction was refused and is retried. */
    public int refused() {
        return followed.underWay().stream()
                .mapToInt(drain -> drain.refusals().size())
                .sum();
    }

    /** Returns the number of nodes that need an operator for all pods in the way. */
    public int stuck() {
        return (int) followed.underWay().stream().filter(DrainState::isStuck).count();
    }

    /** Returns the drain that a dry run would start on a node; empty if there is none, or it is not decided yet. */
    public Optional<DrainDryRun> rehearsal(String node) {
        return Optional.ofNullable(rehearsed.get(node));
    }

    @Override
    public void reconcile(String name) throws ApiException, InterruptedException {
        if (!retries.reconcile(name, () -> open, this::settle, this::outrun)) {
            forget(name);
        }
    }

    /** Returns true, once per write, for a drain that waits until the watch has delivered the change of another writer. */
    private boolean outrun(CachedNode tried) {
        boolean outrun = followed.find(tried.name()).filter(DrainState::outrun).isPresent();
        if (outrun) {
            queue.addAfter(tried.name(), WATCH);
        }
        return outrun;
    }

    private void settle(CachedNode node) throws ApiException, InterruptedException {
        Instant now = clock.instant();
        DrainRequest request;
        DrainAnnotation before;
        DrainAnnotation asked;
        try {
            before = DrainRequest.drainable(node) ? DrainAnnotation.of(node) : DrainAnnotation.NONE;
            request = reasons.decide(node);
            asked = before.with(request, now);
        } catch (IOException e) {
            LOG.log(Level.WARNING, "node " + node.name() + " is not drained: " + e.getMessage());
            forget(node.name());
            return;
        }
        // A pod that comes after the end of the drain also holds the GPU, so the node is followed until it is released.
        boolean over = settings.armed() && asked.finished().isPresent();
        if (!asked.active() && !over) {
            end(node, now);
            return;
        }
        if (!settings.armed()
                && rehearsal(node.name()).filter(each -> each.is(node, asked)).isPresent()) {
            return;
        }
        DrainState drain = followed.follow(node);
        if (!open) {
            forget(node.name());
        }
        drain.over(over);
        if (drain.isComplete()) {
            act(node, drain, request, before, asked, now);
        }
    }

    private void act(
            CachedNode node,
            DrainState drain,
            DrainRequest request,
            DrainAnnotation before,
            DrainAnnotation asked,
            Instant now)
            throws ApiException, InterruptedException {
        drain.before(before);
        Set<String> inFlight = drain.inFlight();
        GpuHolderSource.Answer answer = DrainDecision.asks(asked, drain.pods())
                ? request.within(gpuPods.holders(
                        node,
                        asked.partial(),
                        drain.pods(),
                        asked.gpus().values().stream().min(Instant::compareTo).orElse(now)))
                : new GpuHolderSource.Answer.Known(Map.of(), now);
        DrainDecision decision = DrainDecision.decide(
                node,
                before,
                asked,
                drain.pods(),
                answer,
                drain.refusals(),
                settings.policies(),
                plan -> notices(node, drain).of(asked, settings.armed() ? together.of(node.name(), plan) : plan, now),
                drain.written().plus(settings.times().quiet()).isAfter(now),
                now);
        if (!settings.armed()) {
            if (!(answer instanceof GpuHolderSource.Answer.Asked)) {
                rehearse(node, asked, decision, DrainDecision.missing(answer), now);
            }
            return;
        }
        if (!decision.patch().isEmpty()) {
            if (decision.kind() != DrainDecision.Kind.PROGRESS
                    && drain.isNews(decision.kind() + " " + DrainText.what(decision.record()))) {
                log.decided(node, decision, now);
            }
            var unused = cache.wrote(api.patch(NodeCache.NODES.path(node.name()), decision.patch()));
            drain.written(now);
            written.accept(node.name());
            metrics.drains.add(decision.kind().name().toLowerCase(java.util.Locale.ROOT));
        }
        drain.stuck(decision.record().failed());
        drain.over(!decision.record().active());
        if (drain.isOver()) {
            if (!decision.patch().isEmpty()) {
                metrics.finishes.add(System.nanoTime() - drain.endNanos());
                removals.withdrawSignals(node.name());
            }
            together.forget(node.name());
            // Keeps the watch of a drained node, or lists its pods again later if too many are watched.
            if (followed.tooManyOver()) {
                forget(node.name());
                queue.addAfter(node.name(), LIST_AGAIN);
            }
            return;
        }
        List<PodPlan> due = decision.plan().stream()
                .filter(plan -> plan.isDue(now) && request.reaches(plan.pod(), asked, answer))
                .toList();
        for (PodPlan plan : drain.take(due, inFlight, MOST_OF_A_NODE, now)) {
            removals.submit(node, drain, plan);
        }
        decision.next(
                        drain.refusals(),
                        settings.policies(),
                        drain.written().plus(settings.times().quiet()),
                        now)
                // A millisecond later, so that the time itself has passed then.
                .ifPresent(time ->
                        queue.addAfter(node.name(), Duration.between(now, time).plusMillis(1)));
    }

    private CheckpointSignals notices(CachedNode node, DrainState drain) {
        // The cache holds NodeHealths compressed, and few pods request a signal.
        boolean any = drain.pods().stream().anyMatch(pod -> pod.checkpoint().isPresent());
        Map<String, Object> health = any ? cache.health(node.name()).orElse(Map.of()) : Map.of();
        return new CheckpointSignals(
                health,
                drain.unsent(),
                settings.policies().notice(),
                settings.times().signal());
    }

    // ---- which nodes ----

    /** Ends the drain of a node that needs none, or has been released. */
    private void end(CachedNode node, Instant now) {
        rehearsed.remove(node.name());
        Optional<DrainState> there = followed.find(node.name()).filter(drain -> !drain.isOver());
        if (there.isPresent() && settings.armed() && !DrainRequest.drainable(node)) {
            List<String> left = there.get().pods().stream()
                    .filter(pod -> !pod.ended() && pod.deleted().isEmpty())
                    .map(PodView::path)
                    .sorted()
                    .toList();
            log.cancelled(node, left, now);
            removals.withdrawSignals(node.name());
            metrics.drains.add("cancel");
        }
        forget(node.name());
    }

    private void forget(String node) {
        together.forget(node);
        followed.forget(node);
    }

    private void rehearse(
            CachedNode node, DrainAnnotation asked, DrainDecision decision, Optional<String> missing, Instant now) {
        DrainDryRun dryRun = DrainDryRun.of(node, asked, decision.plan(), missing, now);
        if (rehearsed.put(node.name(), dryRun) == null) {
            metrics.drains.add("dry_run");
        }
        log.rehearsed(node, dryRun, decision);
        forget(node.name());
        written.accept(node.name());
    }

    @Override
    public void close() {
        end();
        removals.close();
    }
}
