package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.app.DrainController.Draining;
import dev.gpuwarden.aggregator.app.RepairController.Repairing;
import dev.gpuwarden.aggregator.breaker.BreakerConfigMap;
import dev.gpuwarden.aggregator.breaker.BreakerConfigMap.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodestatus.ConditionReconciler;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder;
import dev.gpuwarden.aggregator.quarantine.AuditRecord;
import dev.gpuwarden.aggregator.quarantine.NodeFilter;
import dev.gpuwarden.aggregator.quarantine.QuarantineEvents;
import dev.gpuwarden.aggregator.quarantine.QuarantineMetrics;
import dev.gpuwarden.aggregator.quarantine.QuarantineReconciler;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.remediation.MaintenanceView;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import dev.gpuwarden.aggregator.ruleset.RuleSetStore;
import dev.gpuwarden.aggregator.web.FleetView.ReplicaState;
import dev.gpuwarden.core.util.Threads;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The controllers of this replica and their wiring: quarantine, node status, drain, repair, the ConfigMap of the breaker and the status
 * of rule sets. When the replica begins to lead, all nodes are reconciled once, and from then on each node that changes.
 */
public final class Controllers implements AutoCloseable {

    /**
     * The number of workers for nodes. Each waits for one answer. Requests beyond those that the API server answers
     * concurrently only wait there.
     */
    private static final int THREADS = 32;

    private static final int STATUS_THREADS = 8;

    /** The interval at which nodes that the breaker refused, or that their maintenance holds, are reconciled without another cause. */
    private static final long ASK_AGAIN_SECONDS = 5;

    private static final String BREAKER = "breaker";

    /** The clock of the API server, since a successor compares the times that this replica writes. */
    private final Clock clock;

    private final Manager manager;

    private final QuarantineMetrics metrics = new QuarantineMetrics();
    private final NodeFilter attention = new NodeFilter();
    private final NodeCache cache;
    private final PoolCounts pools;
    private final QuarantineSettings settings;
    private final StepModes steps;
    private final CircuitBreaker breaker;
    private final RuleSetStore rules;
    private final QuarantineReconciler quarantine;
    private final NodeReconciler work;
    private final WorkQueue nodes;
    /** A separate queue, so that a cordon never waits for the conditions and Events of a thousand other nodes. */
    private final WorkQueue statuses;

    private final Optional<DrainController> drains;
    private final Optional<RepairController> repairs;
    private final WorkQueue chores;
    private final ResourceInformer healths;

    private Controllers(
            KubeClient api,
            QuarantineSettings settings,
            Consumer<AuditRecord> audits,
            Optional<Draining> draining,
            Optional<Repairing> repairing) {
        this.clock = api.clock();
        this.settings = settings;
        this.steps = StepModes.of(
                draining.map(set -> set.settings().armed()),
                repairing.map(set -> set.settings().armed()));
        this.manager = new Manager(api);
        this.nodes = manager.queue("node", THREADS);
        this.statuses = manager.queue("conditions and Events of node", STATUS_THREADS);
        this.chores = manager.queue("chore", 2);
        BreakerPolicy policy = new BreakerPolicy(settings.pools());
        this.pools = new PoolCounts(policy);
        this.cache = new NodeCache(
                new NodeCache.Listener() {
                    @Override
                    public void node(String name, Optional<CachedNode> node, boolean ours) {
                        pools.node(name, node);
                        if (attention.node(name, node) && !ours) {
                            nodes.add(name);
                        }
                    }

                    @Override
                    public void health(String name, Optional<Map<String, Object>> health) {
                        if (attention.health(name, health)) {
                            nodes.add(name);
                        }
                    }
                },
                clock);
        this.rules = new RuleSetStore(api, clock, this::rulesChanged, chores::add);
        this.breaker = new CircuitBreaker(policy, pools, clock, () -> chores.add(BREAKER));
        BreakerConfigMap store = new BreakerConfigMap(
                settings.namespace(),
                new BreakerSettingsAnnotation(settings.mode(), settings.pools(), Optional.of(steps)),
                api,
                breaker,
                clock,
                this::askAgain,
                () -> chores.add(BREAKER));
        this.drains = draining.map(set -> new DrainController(manager, api, cache, set, clock, nodes::add));
        this.repairs = repairing.map(set -> new RepairController(manager, api, cache, breaker, set, clock, nodes::add));
        this.quarantine =
                new QuarantineReconciler(api, cache, breaker, settings.forcePasses(), clock, audits, this::inProgress);
        repairs.ifPresent(all -> all.maintenance().listen(this::maintained));
        this.work = new NodeReconciler(
                api,
                settings.mode(),
                cache,
                rules,
                quarantine,
                new ConditionReconciler(api, clock),
                new NodeEventRecorder(api),
                clock,
                metrics,
                () -> Controllers.this.healths.watching(),
                this::rehearsals);
        statuses.run(work::updateStatus);
        nodes.run(name -> {
            try {
                work.decide(name);
            } finally {
                statuses.add(name);
                queueDrain(name);
                repairs.ifPresent(all -> all.add(name));
            }
        });
        chores.run(name -> {
            if (name.equals(BREAKER)) {
                store.save();
            } else {
                rules.updateStatus(name);
            }
        });
        manager.onLeading(new Start());
        var unused = manager.watch(RuleSetStore.KIND, rules.listener());
        unused = manager.watch(store.kind(), store.listener());
        this.healths = manager.watch(NodeHealthClient.ALL, cache.healths());
        unused = manager.watch(NodeCache.NODES, cache.nodes());
        ScheduledExecutorService ticks =
                Executors.newSingleThreadScheduledExecutor(Threads.daemon("gpuwarden-breaker"));
        manager.keep(ticks::shutdownNow);
        var unusedToo =
                ticks.scheduleWithFixedDelay(this::askAgain, ASK_AGAIN_SECONDS, ASK_AGAIN_SECONDS, TimeUnit.SECONDS);
        manager.start(settings.namespace(), settings.identity(), settings.election());
    }

    /** The first run when this replica begins to lead: the breaker, all rule sets and all nodes. */
    private final class Start implements LeaderListener {
        @Override
        public void begin() {
            chores.add(BREAKER);
            rulesChanged();
        }

        @Override
        public void end() {
            rules.forgetErrors();
        }
    }

    /** Starts the controllers, without drains and repairs. Does not wait for the cluster. */
    public static Controllers start(KubeClient api, QuarantineSettings settings, Consumer<AuditRecord> audits) {
        return start(api, settings, audits, Optional.empty(), Optional.empty());
    }

    /**
     * Starts the controllers. Does not wait for the cluster.
     *
     * @param draining the settings of drains; empty if nodes are not drained
     * @param repairing the settings of repairs; empty if nodes are not repaired
     */
    public static Controllers start(
            KubeClient api,
            QuarantineSettings settings,
            Consumer<AuditRecord> audits,
            Optional<Draining> draining,
            Optional<Repairing> repairing) {
        return new Controllers(api, settings, audits, draining, repairing);
    }

    /** Registers what runs whenever the controllers run. */
    public void onLeading(LeaderListener listener) {
        manager.onLeading(listener);
    }

    /** Returns the plurals of the kinds whose informers have not synced yet; no controller runs before. */
    public Set<String> waitingFor() {
        return manager.waitingFor();
    }

    // ---- tasks ----

    /** Queues a node for its drain, for example after new facts about its GPUs. */
    public void queueDrain(String node) {
        drains.ifPresent(all -> all.add(node));
    }

    private List<QuarantineEvents> rehearsals(String node) {
        return Stream.concat(
                        drains.map(all -> all.rehearsal(node)).orElse(List.of()).stream(),
                        repairs.map(all -> all.rehearsal(node)).orElse(List.of()).stream())
                .toList();
    }

    private void rulesChanged() {
        rules.conditions().stream().map(RuleCondition::ruleSet).forEach(chores::add);
        attention.all().forEach(nodes::add);
    }

    private void askAgain() {
        breaker.waiting().forEach(nodes::add);
        // The lock of another program has no watch.
        quarantine.held().forEach(nodes::add);
    }

    private Optional<String> inProgress(CachedNode node) throws ApiException, InterruptedException {
        return repairs.isEmpty() ? Optional.empty() : repairs.get().inProgress(node);
    }

    /** Returns the nodes without faults that wait for the end of their maintenance. */
    Set<String> held() {
        return quarantine.held();
    }

    private void maintained(String node) {
        if (quarantine.holds(node)) {
            nodes.add(node);
        }
    }

    /**
     * Returns the cache that all parts of this replica share. It has this replica's own writes before the watch delivers them.
     */
    public NodeHealthCache memory() {
        return cache;
    }

    /** Returns the state of this replica, for readers that change nothing. */
    public ReplicaState view() {
        return new ReplicaState(
                settings,
                cache,
                rules::book,
                breaker,
                pools,
                repairs.map(RepairController::maintenance).orElse(MaintenanceView.OFF),
                steps);
    }

    /** Returns the cache of all Nodes and NodeHealths of this replica. */
    public NodeCache cache() {
        return cache;
    }

    // ---- metrics and state ----

    public QuarantineMetrics metrics() {
        return metrics;
    }

    public boolean works() {
        return manager.isRunning();
    }

    public int queued() {
        return nodes.size()
                + statuses.size()
                + drains.map(DrainController::queued).orElse(0)
                + repairs.map(RepairController::queued).orElse(0);
    }

    public int failing() {
        return nodes.failing()
                + statuses.failing()
                + chores.failing()
                + drains.map(DrainController::failing).orElse(0)
                + repairs.map(RepairController::failing).orElse(0);
    }

    /** Returns the reconciler of drains; empty if nodes are not drained. */
    public Optional<DrainReconciler> drains() {
        return drains.map(DrainController::drains);
    }

    /** Returns the controller of repairs; empty if nodes are not repaired. */
    Optional<RepairController> repairs() {
        return repairs;
    }

    /** Returns the controller of maintenance; empty without a janitor. */
    Optional<JanitorController> janitor() {
        return repairs.flatMap(RepairController::janitor);
    }

    public CircuitBreaker breaker() {
        return breaker;
    }

    public List<RuleCondition> ruleConditions() {
        return rules.conditions();
    }

    /** Stops acting, then lets another replica lead. */
    @Override
    public void close() {
        manager.close();
    }
}
