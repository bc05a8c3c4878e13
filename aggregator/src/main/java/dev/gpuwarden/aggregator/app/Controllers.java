package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.client.ResourceInformer;
import dev.gpuwarden.aggregator.controller.Informers;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.drain.DrainAuditLog.DrainAudit;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.drain.GpuHolderSource;
import dev.gpuwarden.aggregator.drain.KubeletGpuHolders;
import dev.gpuwarden.aggregator.fleet.ReplicaState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodestatus.ConditionReconciler;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder;
import dev.gpuwarden.aggregator.quarantine.AuditRecord;
import dev.gpuwarden.aggregator.quarantine.NodeFilter;
import dev.gpuwarden.aggregator.quarantine.QuarantineMetrics;
import dev.gpuwarden.aggregator.quarantine.QuarantineReconciler;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import dev.gpuwarden.aggregator.ruleset.RuleSetStore;
import dev.gpuwarden.core.util.Threads;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Keeps all Nodes as their faults and the rules want them. Every replica follows the cluster, so that any of them can go on at
 * once; only the one that leads writes. It begins with all nodes, whatever anybody did before, and from then on with each that
 * changes.
 */
public final class Controllers implements AutoCloseable {

    /** Each waits for one answer; more than the API server answers at once only wait there. */
    private static final int THREADS = 32;

    private static final int TELLING_THREADS = 8;
    private static final int DRAINING_THREADS = 16;

    /** How soon nodes that the breaker refused ask again without anybody's doing. */
    private static final long ASK_AGAIN_SECONDS = 5;

    private static final String BREAKER = "breaker";

    /**
     * That nodes in quarantine are drained, or would be.
     */
    public record Draining(DrainReconciler.Settings settings, Consumer<DrainAudit> audits) {}

    private final Clock clock = Clock.systemUTC();
    private final List<LeaderListener> led = new ArrayList<>();
    private final List<AutoCloseable> parts = new ArrayList<>();

    private final QuarantineMetrics tally = new QuarantineMetrics();
    private final NodeFilter attention = new NodeFilter();
    private final NodeCache fleet;
    private final PoolCounts pools;
    private final QuarantineSettings settings;
    private final CircuitBreaker gate;
    private final RuleSetStore rules;
    private final WorkQueue nodes;
    /** Apart, so that none of a thousand cordons waits for the words about another one. */
    private final WorkQueue told;

    /** Apart too: none of a thousand cordons waits for pods. */
    private final Optional<WorkQueue> drained;

    private final Optional<DrainReconciler> drains;
    private final WorkQueue chores;
    private final Informers sources;
    private final ResourceInformer healths;
    private boolean leads;
    private boolean works;

    private Controllers(
            KubeClient api, QuarantineSettings settings, Consumer<AuditRecord> audits, Optional<Draining> draining) {
        this.settings = settings;
        BreakerPolicy breaker = new BreakerPolicy(settings.pools());
        this.pools = new PoolCounts(breaker);
        this.fleet = new NodeCache(
                new NodeCache.Listener() {
                    @Override
                    public void node(String name, Optional<CachedNode> node, boolean ours) {
                        pools.node(name, node);
                        if (attention.node(name, node) && !ours) {
                            Controllers.this.changed(name);
                        }
                    }

                    @Override
                    public void health(String name, Optional<Map<String, Object>> health) {
                        if (attention.health(name, health)) {
                            Controllers.this.changed(name);
                        }
                    }
                },
                clock);
        this.rules = new RuleSetStore(api, clock, this::rulesChanged);
        this.gate = new CircuitBreaker(breaker, pools, clock, () -> Controllers.this.chore(BREAKER));
        BreakerConfigMap store = new BreakerConfigMap(
                settings.namespace(),
                new BreakerSettingsAnnotation(settings.mode(), settings.pools()),
                api,
                gate,
                clock,
                this::askAgain,
                () -> Controllers.this.chore(BREAKER));
        this.drains = draining.map(set -> keep(new DrainReconciler(
                api,
                fleet,
                set.settings(),
                keep(new KubeletGpuHolders(
                        new GpuHolderSource.FromPodStatus(clock),
                        api,
                        fleet,
                        clock,
                        set.settings().times().holders(),
                        this::lookAtDrain)),
                clock,
                set.audits(),
                this::lookAtDrain,
                this::changed)));
        this.drained = drains.map(all -> keep(new WorkQueue("drain of node", DRAINING_THREADS, all::settle)));
        NodeReconciler work = new NodeReconciler(
                api,
                settings.mode(),
                fleet,
                rules,
                new QuarantineReconciler(api, fleet, gate, settings.forcePasses(), clock, audits),
                new ConditionReconciler(api, clock),
                new NodeEventRecorder(api),
                clock,
                tally,
                () -> Controllers.this.healths.watching(),
                name -> drains.flatMap(all -> all.rehearsal(name)));
        this.told = keep(new WorkQueue("conditions and Events of node", TELLING_THREADS, work::tell));
        this.nodes = keep(new WorkQueue("node", THREADS, name -> {
            try {
                work.decide(name);
            } finally {
                told.add(name);
                lookAtDrain(name);
            }
        }));
        this.chores = keep(new WorkQueue("chore", 2, name -> {
            if (name.equals(BREAKER)) {
                store.save();
            } else {
                rules.tell(name);
            }
        }));
        this.sources = keep(new Informers(api, this::begin));
        var unused = sources.follow(RuleSetStore.KIND, rules.listener());
        unused = sources.follow(store.kind(), store.listener());
        this.healths = sources.follow(NodeHealthClient.ALL, fleet.healths());
        unused = sources.follow(NodeCache.NODES, fleet.nodes());
        ScheduledExecutorService ticks =
                Executors.newSingleThreadScheduledExecutor(Threads.daemon("gpuwarden-breaker"));
        parts.add(ticks::shutdownNow);
        var unusedToo =
                ticks.scheduleWithFixedDelay(this::askAgain, ASK_AGAIN_SECONDS, ASK_AGAIN_SECONDS, TimeUnit.SECONDS);
        keep(api.seekLeadership(
                settings.namespace(),
                LeaderListener.LEASE,
                settings.identity(),
                settings.election(),
                this::beginLeading,
                this::endLeading));
    }

    /** Does not wait for the cluster. */
    public static Controllers start(KubeClient api, QuarantineSettings settings, Consumer<AuditRecord> audits) {
        return start(api, settings, audits, Optional.empty());
    }

    /** The same, which drains the nodes in quarantine too. */
    public static Controllers start(
            KubeClient api, QuarantineSettings settings, Consumer<AuditRecord> audits, Optional<Draining> draining) {
        return new Controllers(api, settings, audits, draining);
    }

    private <T extends AutoCloseable> T keep(T part) {
        parts.add(part);
        return part;
    }

    // ---- who works ----

    private synchronized void beginLeading() {
        leads = true;
        begin();
    }

    /** With half of the nodes known, the breaker would count wrong, and without rules every faulty node be left. */
    private synchronized void begin() {
        if (!leads || works || !sources.waitingFor().isEmpty()) {
            return;
        }
        works = true;
        told.open();
        drains.ifPresent(DrainReconciler::open);
        drained.ifPresent(WorkQueue::open);
        nodes.open();
        chores.open();
        chores.add(BREAKER);
        rulesChanged();
        led.forEach(LeaderListener::begin);
    }

    /** Has somebody work whenever this does. */
    public synchronized void accompany(LeaderListener other) {
        led.add(other);
        if (works) {
            other.begin();
        }
    }

    private synchronized void endLeading() {
        leads = false;
        works = false;
        nodes.stop();
        drained.ifPresent(WorkQueue::stop);
        drains.ifPresent(DrainReconciler::stop);
        told.stop();
        chores.stop();
        led.forEach(LeaderListener::end);
    }

    /** What has not been told completely yet, by its plural: nothing is done before. */
    public Set<String> waitingFor() {
        return sources.waitingFor();
    }

    // ---- what there is to do ----

    private void changed(String node) {
        nodes.add(node);
    }

    /** What is to be done about a node's pods, as where somebody knows more of its GPUs. */
    public void lookAtDrain(String node) {
        drained.ifPresent(rounds -> rounds.add(node));
    }

    private void chore(String name) {
        chores.add(name);
    }

    private void rulesChanged() {
        rules.conditions().stream().map(RuleCondition::ruleSet).forEach(chores::add);
        attention.all().forEach(nodes::add);
    }

    private void askAgain() {
        gate.waiting().forEach(nodes::add);
    }

    /** What all of this replica may know; what it has written need not wait for the watch. */
    public NodeHealthCache memory() {
        return fleet;
    }

    /** What this replica knows, for who only looks. */
    public ReplicaState view() {
        return new ReplicaState(settings, fleet, rules::book, gate, pools);
    }

    /** All Nodes and NodeHealths, as this replica knows them. */
    public NodeCache fleet() {
        return fleet;
    }

    // ---- what is told of it ----

    public QuarantineMetrics tally() {
        return tally;
    }

    public synchronized boolean works() {
        return works;
    }

    public int queued() {
        return nodes.size() + told.size() + drained.map(WorkQueue::size).orElse(0);
    }

    public int failing() {
        return nodes.failing()
                + told.failing()
                + chores.failing()
                + drained.map(WorkQueue::failing).orElse(0);
    }

    /** Empty where nodes are not drained. */
    public Optional<DrainReconciler> drains() {
        return drains;
    }

    public CircuitBreaker gate() {
        return gate;
    }

    public List<RuleCondition> ruleConditions() {
        return rules.conditions();
    }

    /** Stops acting, then lets another one lead. */
    @Override
    public void close() {
        endLeading();
        for (int i = parts.size() - 1; i >= 0; i--) {
            try {
                parts.get(i).close();
            } catch (Exception e) {
                throw new IllegalStateException("closing never fails here", e);
            }
        }
    }
}
