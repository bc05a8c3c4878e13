package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeRetries;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.Reconciler;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.drain.ActCheck;
import dev.gpuwarden.aggregator.drain.DrainRequest;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import dev.gpuwarden.aggregator.remediation.Repair.Result;
import dev.gpuwarden.aggregator.remediation.RepairDecision.Kind;
import dev.gpuwarden.aggregator.remediation.RepairEvents.RepairDryRun;
import dev.gpuwarden.aggregator.remediation.RepairFacts.Policy;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The reconciler of repairs: it records an attempt on the Node, then creates its resource. All state is on the Node and in the
 * resources, so a new leader continues where the one before was killed. Thread-safe; one thread reconciles a node.
 */
public final class RepairReconciler implements Reconciler, LeaderListener, AutoCloseable {

    private static final System.Logger LOG = System.getLogger(RepairReconciler.class.getName());

    private static final Set<Kind> NEWS = EnumSet.of(Kind.ACT, Kind.APPROVAL, Kind.DRAIN, Kind.PERSON, Kind.BLOCKED);

    /**
     * @param armed true to make resources; false for a dry run, which decides and reports only
     * @param manual true if each action waits for an operator's approval
     * @param attempts number of resets of one GPU, and of reboots for one GPU, within the memory
     * @param memory time for which earlier repairs of a GPU count
     * @param settle time that a node has after a repair to report that the fault is over
     * @param templates users' own ways of repair
     * @param lockNamespace namespace of the Leases that lock nodes
     */
    public record Settings(
            boolean armed,
            boolean manual,
            int attempts,
            Duration memory,
            Duration settle,
            RepairTemplates templates,
            String lockNamespace) {

        Policy policy() {
            return new Policy(armed, manual, attempts, memory, settle, templates);
        }
    }

    private final KubeClient api;
    private final NodeCache cache;
    private final CircuitBreaker breaker;
    private final Policy policy;
    private final Clock clock;
    private final RepairAuditLog log;
    private final WorkQueue queue;
    private final Consumer<String> written;
    private final RepairMetrics metrics = new RepairMetrics();
    private final MaintenanceResources resources;
    private final RepairRequests requests;
    private final ActCheck check;
    private final NodeRetries retries;
    private final TemplateLock lock;
    private final UnwatchedResources unwatched;
    private final Map<String, RepairDryRun> rehearsed = new ConcurrentHashMap<>();
    /** The last decision of each node that is in the audit log. */
    private final Map<String, String> audited = new ConcurrentHashMap<>();

    private volatile boolean open;

    /**
     * Creates the reconciler, which follows the resources from now on.
     *
     * @param janitor returns the janitor's listener for each kind of maintenance; empty without a janitor
     * @param audits receiver of each decision before it is carried out, and of each result
     * @param written receiver of the name of each node with news for operators
     */
    public RepairReconciler(
            Replica replica,
            CircuitBreaker breaker,
            Settings settings,
            Optional<Function<MaintenanceKind, ResourceInformer.Listener>> janitor,
            WorkQueue queue,
            Consumer<AuditLog.Entry> audits,
            Consumer<String> written) {
        this.api = replica.api();
        this.cache = replica.cache();
        this.breaker = breaker;
        this.policy = settings.policy();
        this.queue = queue;
        this.clock = api.clock();
        this.log = new RepairAuditLog(audits);
        this.lock = new TemplateLock(api, settings.lockNamespace(), clock);
        this.unwatched = new UnwatchedResources(api);
        this.written = written;
        // The queue takes no names before this replica leads.
        Consumer<String> again = node -> {
            if (open) {
                queue.add(node);
            }
        };
        // A dry run needs no right to the kinds of templates.
        List<RepairTemplate> watched = policy.armed() ? policy.templates().all() : List.of();
        this.resources = new MaintenanceResources(
                api, watched, janitor, again, () -> cache.names().forEach(again));
        this.check = new ActCheck(api, cache, clock);
        this.requests = new RepairRequests(api, resources, policy.templates(), lock, this::still, System::nanoTime);
        this.retries = new NodeRetries(api, cache);
    }

    @Override
    public void begin() {
        open = true;
    }

    @Override
    public void end() {
        open = false;
        rehearsed.clear();
        audited.clear();
        lock.forget();
        metrics.forgetAll();
    }

    public RepairMetrics metrics() {
        return metrics;
    }

    /** Returns the age of the oldest lock of a user's template, in seconds; 0 if there is none. */
    public long oldestLockSeconds(Instant now) {
        return lock.oldestSeconds(now);
    }

    /** Returns the maintenance resources, for readers that change nothing. */
    public MaintenanceView maintenance() {
        return resources;
    }

    /** Returns the repair that a dry run would begin on a node; empty if there is none, or it is not decided yet. */
    public Optional<RepairDryRun> rehearsal(String node) {
        return Optional.ofNullable(rehearsed.get(node));
    }

    @Override
    public void reconcile(String name) throws ApiException, InterruptedException {
        if (!retries.reconcile(name, () -> open, this::settle, node -> false)) {
            forget(name);
        }
    }

    private void forget(String node) {
        rehearsed.remove(node);
        audited.remove(node);
        metrics.forget(node);
    }

    private void settle(CachedNode node) throws ApiException, InterruptedException {
        if (policy.armed()) {
            lock.list();
        }
        if (!DrainRequest.drainable(node)) {
            forget(node.name());
            releaseEnded(node);
            return;
        }
        if (resources.unknown().isPresent()) {
            // The listener queues all nodes when the resources are known.
            metrics.stage(node.name(), Kind.BLOCKED);
            return;
        }
        Instant now = clock.instant();
        long decisionNanos = requests.decisionNanos();
        RepairFacts facts;
        try {
            facts = facts(node, now);
        } catch (IOException e) {
            if (isNews(node, Kind.BLOCKED + " " + e.getMessage())) {
                LOG.log(Level.WARNING, "node " + node.name() + " is not repaired: " + e.getMessage());
            }
            metrics.stage(node.name(), Kind.BLOCKED);
            return;
        }
        RepairDecision decision = RepairDecision.decide(facts);
        metrics.stage(node.name(), decision.kind());
        if (policy.armed()) {
            carryOut(node, facts, decision, now, decisionNanos);
        } else {
            rehearse(node, facts, decision, now);
        }
    }

    private RepairFacts facts(CachedNode node, Instant now) throws IOException, ApiException, InterruptedException {
        FaultReport report = FaultReport.of(node.name(), cache.health(node.name()), now);
        List<MaintenanceResource> ofNode = resources.of(node.name(), node.uid());
        RepairFacts facts = RepairFacts.of(
                node,
                report,
                ofNode,
                RepairObstacle.of(node, report, MaintenanceResources.foreign(ofNode), breaker.openFor(node)),
                policy,
                now);
        List<Repair> unconfigured = facts.record().unconfigured(policy.templates());
        // A dry run needs no right to the kinds of templates.
        return policy.armed() && !unconfigured.isEmpty() ? facts.and(unwatched.read(node, unconfigured)) : facts;
    }

    /** Returns the attempt on a node that no watch delivers, because its template was removed. Blocks for the API server. */
    public Optional<String> unwatched(CachedNode node) throws ApiException, InterruptedException {
        return unwatched.inProgress(node, policy.templates());
    }

    /** Returns true if the node may be acted on as it is now, and a fault for which the attempt was made is current. */
    private boolean still(CachedNode node, Repair repair) throws ApiException, InterruptedException {
        Optional<CachedNode> now = check.node(node);
        if (now.isEmpty()) {
            return false;
        }
        FaultReport report = FaultReport.of(node.name(), check.health(node.name()), clock.instant());
        return RepairFacts.wants(now.get(), report, policy, repair);
    }

    private void carryOut(CachedNode node, RepairFacts facts, RepairDecision decision, Instant now, long decisionNanos)
            throws ApiException, InterruptedException {
        List<Map<String, Object>> patch = decision.patch(node, facts.record());
        audit(node, facts, decision, patch, now);
        CachedNode current = node;
        // Before the record of the end, or a leader that is killed between them would leave the lock.
        lock.releaseUnlessFor(decision.record().locking(facts.resources()), node.name());
        if (!patch.isEmpty()) {
            current = write(node, patch);
            ended(node, facts.record().history(), decision.record().history());
        }
        RepairRecord record = decision.record();
        for (Repair repair : decision.create()) {
            RepairRequests.Result made = requests.make(current, repair, facts.demands(), decisionNanos);
            if (made instanceof RepairRequests.Result.Later later) {
                queue.addAfter(node.name(), later.pause());
            } else if (made instanceof RepairRequests.Result.Refused refused) {
                record = record.withResult(
                        repair, new Result(Outcome.FAILED, RepairDecision.second(now), refused.why()));
            }
        }
        if (!record.equals(decision.record())) {
            lock.releaseUnlessFor(record.locking(facts.resources()), node.name());
            var unused = write(current, RepairAnnotations.patch(current, record));
            ended(node, decision.record().history(), record.history());
        }
        // A millisecond later, so that the time itself has passed then.
        decision.again()
                .ifPresent(time ->
                        queue.addAfter(node.name(), Duration.between(now, time).plusMillis(1)));
    }

    /** Releases the lock of a node that is out of quarantine, so that no result is recorded, unless its resource is in progress. */
    private void releaseEnded(CachedNode node) throws ApiException, InterruptedException {
        if (policy.armed() && resources.unknown().isEmpty()) {
            lock.releaseUnlessFor(RepairRecord.lockingAtRest(resources.of(node.name(), node.uid())), node.name());
        }
    }

    private CachedNode write(CachedNode node, List<Map<String, Object>> patch)
            throws ApiException, InterruptedException {
        CachedNode now = cache.wrote(
                api.patch(NodeCache.NODES.path(node.name()) + "?fieldManager=" + RepairAnnotations.MANAGER, patch));
        written.accept(node.name());
        return now;
    }

    /** Records the results that are new. */
    private void ended(CachedNode node, Collection<Repair> before, Collection<Repair> after) {
        Set<String> over = new HashSet<>();
        before.stream()
                .filter(repair -> !repair.inProgress())
                .map(Repair::resource)
                .forEach(over::add);
        for (Repair repair : after) {
            repair.result().filter(result -> over.add(repair.resource())).ifPresent(result -> {
                log.ended(node, repair, result);
                metrics.ended(repair, result);
            });
        }
    }

    private void audit(
            CachedNode node, RepairFacts facts, RepairDecision decision, List<Map<String, Object>> patch, Instant now) {
        if (NEWS.contains(decision.kind()) && isNews(node, decision.kind() + " " + decision.why())) {
            log.decided(node, !policy.armed(), decision, facts.demands(), patch, now);
            metrics.decisions.add(
                    (policy.armed() ? "" : "dry_run_") + decision.kind().name().toLowerCase(java.util.Locale.ROOT));
        }
    }

    private boolean isNews(CachedNode node, String decision) {
        String text = node.uid() + " " + decision;
        return !text.equals(audited.put(node.name(), text));
    }

    private void rehearse(CachedNode node, RepairFacts facts, RepairDecision decision, Instant now) {
        audit(node, facts, decision, List.of(), now);
        if (!NEWS.contains(decision.kind())) {
            rehearsed.remove(node.name());
            return;
        }
        String text = switch (decision.kind()) {
            case ACT -> "would begin, after the drain: " + decision.why();
            case APPROVAL -> "would stop: " + decision.why();
            case PERSON -> "would wait for an operator: " + decision.why();
            default -> "would do nothing: " + decision.why();
        };
        RepairDryRun before = rehearsed.get(node.name());
        if (before == null || !before.uid().equals(node.uid()) || !before.text().equals(text)) {
            rehearsed.put(node.name(), new RepairDryRun(node.uid(), text, now));
            written.accept(node.name());
        }
    }

    @Override
    public void close() {
        end();
        resources.close();
    }
}
