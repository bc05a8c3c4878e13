package dev.gpuwarden.aggregator.control;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.LeaderElectionTimes;
import dev.gpuwarden.aggregator.cluster.Mirror;
import dev.gpuwarden.aggregator.drain.AskedGpuPods;
import dev.gpuwarden.aggregator.drain.DrainAudit;
import dev.gpuwarden.aggregator.drain.Drains;
import dev.gpuwarden.aggregator.drain.StatusGpuPods;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.health.Memory;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.quarantine.Audit;
import dev.gpuwarden.aggregator.quarantine.BreakerGate;
import dev.gpuwarden.aggregator.quarantine.BreakerStore;
import dev.gpuwarden.aggregator.quarantine.Mode;
import dev.gpuwarden.aggregator.quarantine.NodeQuarantine;
import dev.gpuwarden.aggregator.quarantine.Pools;
import dev.gpuwarden.aggregator.quarantine.Published;
import dev.gpuwarden.aggregator.rules.RuleCondition;
import dev.gpuwarden.aggregator.rules.RuleShelf;
import dev.gpuwarden.aggregator.tell.Conditions;
import dev.gpuwarden.aggregator.tell.Teller;
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
public final class Steering implements AutoCloseable {

    /** Each waits for one answer; more than the API server answers at once only wait there. */
    private static final int THREADS = 32;

    private static final int TELLING_THREADS = 8;
    private static final int DRAINING_THREADS = 16;

    /** How soon nodes that the breaker refused ask again without anybody's doing. */
    private static final long ASK_AGAIN_SECONDS = 5;

    public static final String LEASE = "gpuwarden-aggregator";
    private static final String BREAKER = "breaker";

    /**
     * @param namespace of the Lease and the breaker's ConfigMap
     * @param identity another one for each replica
     * @param forcePasses whether the breaker is not asked about a node that a sender forces out of service
     */
    public record Settings(
            String namespace,
            String identity,
            Mode mode,
            List<Pool> pools,
            LeaderElectionTimes election,
            boolean forcePasses) {

        public Settings(String namespace, String identity, Mode mode, List<Pool> pools, LeaderElectionTimes election) {
            this(namespace, identity, mode, pools, election, false);
        }
    }

    /**
     * That nodes in quarantine are drained, or would be.
     */
    public record Draining(Drains.Settings settings, Consumer<DrainAudit> audits) {}

    /** What works while this replica leads and knows all. Told in a thread that must not be held up. */
    public interface Led {
        void begin();

        void end();
    }

    private final Clock clock = Clock.systemUTC();
    private final List<Led> led = new ArrayList<>();
    private final List<AutoCloseable> parts = new ArrayList<>();

    private final SteeringTally tally = new SteeringTally();
    private final Attention attention = new Attention();
    private final Fleet fleet;
    private final Pools pools;
    private final Settings settings;
    private final BreakerGate gate;
    private final RuleShelf rules;
    private final Rounds nodes;
    /** Apart, so that none of a thousand cordons waits for the words about another one. */
    private final Rounds told;

    /** Apart too: none of a thousand cordons waits for pods. */
    private final Optional<Rounds> drained;

    private final Optional<Drains> drains;
    private final Rounds chores;
    private final Sources sources;
    private final Mirror healths;
    private boolean leads;
    private boolean works;

    private Steering(ClusterApi api, Settings settings, Consumer<Audit> audits, Optional<Draining> draining) {
        this.settings = settings;
        Breaker breaker = new Breaker(settings.pools());
        this.pools = new Pools(breaker);
        this.fleet = new Fleet(
                new Fleet.Listener() {
                    @Override
                    public void node(String name, Optional<NodeRead> node, boolean ours) {
                        pools.node(name, node);
                        if (attention.node(name, node) && !ours) {
                            Steering.this.changed(name);
                        }
                    }

                    @Override
                    public void health(String name, Optional<Map<String, Object>> health) {
                        if (attention.health(name, health)) {
                            Steering.this.changed(name);
                        }
                    }
                },
                clock);
        this.rules = new RuleShelf(api, clock, this::rulesChanged);
        this.gate = new BreakerGate(breaker, pools, clock, () -> Steering.this.chore(BREAKER));
        BreakerStore store = new BreakerStore(
                settings.namespace(),
                new Published(settings.mode(), settings.pools()),
                api,
                gate,
                clock,
                this::askAgain,
                () -> Steering.this.chore(BREAKER));
        this.drains = draining.map(set -> keep(new Drains(
                api,
                fleet,
                set.settings(),
                keep(new AskedGpuPods(
                        new StatusGpuPods(clock),
                        api,
                        fleet,
                        clock,
                        set.settings().times().holders(),
                        this::lookAtDrain)),
                clock,
                set.audits(),
                this::lookAtDrain,
                this::changed)));
        this.drained = drains.map(all -> keep(new Rounds("drain of node", DRAINING_THREADS, all::settle)));
        NodeWork work = new NodeWork(
                api,
                settings.mode(),
                fleet,
                rules,
                new NodeQuarantine(api, fleet, gate, settings.forcePasses(), clock, audits),
                new Conditions(api, clock),
                new Teller(api),
                clock,
                tally,
                () -> Steering.this.healths.watching(),
                name -> drains.flatMap(all -> all.rehearsal(name)));
        this.told = keep(new Rounds("conditions and Events of node", TELLING_THREADS, work::tell));
        this.nodes = keep(new Rounds("node", THREADS, name -> {
            try {
                work.decide(name);
            } finally {
                told.add(name);
                lookAtDrain(name);
            }
        }));
        this.chores = keep(new Rounds("chore", 2, name -> {
            if (name.equals(BREAKER)) {
                store.save();
            } else {
                rules.tell(name);
            }
        }));
        this.sources = keep(new Sources(api, this::begin));
        var unused = sources.follow(RuleShelf.KIND, rules.listener());
        unused = sources.follow(store.kind(), store.listener());
        this.healths = sources.follow(NodeHealths.ALL, fleet.healths());
        unused = sources.follow(Fleet.NODES, fleet.nodes());
        ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread thread = new Thread(task, "gpuwarden-breaker");
            thread.setDaemon(true);
            return thread;
        });
        parts.add(ticks::shutdownNow);
        var unusedToo =
                ticks.scheduleWithFixedDelay(this::askAgain, ASK_AGAIN_SECONDS, ASK_AGAIN_SECONDS, TimeUnit.SECONDS);
        keep(api.seekLeadership(
                settings.namespace(),
                LEASE,
                settings.identity(),
                settings.election(),
                this::beginLeading,
                this::endLeading));
    }

    /** Does not wait for the cluster. */
    public static Steering start(ClusterApi api, Settings settings, Consumer<Audit> audits) {
        return start(api, settings, audits, Optional.empty());
    }

    /** The same, which drains the nodes in quarantine too. */
    public static Steering start(
            ClusterApi api, Settings settings, Consumer<Audit> audits, Optional<Draining> draining) {
        return new Steering(api, settings, audits, draining);
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
        drains.ifPresent(Drains::open);
        drained.ifPresent(Rounds::open);
        nodes.open();
        chores.open();
        chores.add(BREAKER);
        rulesChanged();
        led.forEach(Led::begin);
    }

    /** Has somebody work whenever this does. */
    public synchronized void accompany(Led other) {
        led.add(other);
        if (works) {
            other.begin();
        }
    }

    private synchronized void endLeading() {
        leads = false;
        works = false;
        nodes.stop();
        drained.ifPresent(Rounds::stop);
        drains.ifPresent(Drains::stop);
        told.stop();
        chores.stop();
        led.forEach(Led::end);
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
    public Memory memory() {
        return fleet;
    }

    /** What this replica knows, for who only looks. */
    public View view() {
        return new View(settings, fleet, rules::book, gate, pools);
    }

    /** All Nodes and NodeHealths, as this replica knows them. */
    public Fleet fleet() {
        return fleet;
    }

    // ---- what is told of it ----

    public SteeringTally tally() {
        return tally;
    }

    public synchronized boolean works() {
        return works;
    }

    public int queued() {
        return nodes.size() + told.size() + drained.map(Rounds::size).orElse(0);
    }

    public int failing() {
        return nodes.failing()
                + told.failing()
                + chores.failing()
                + drained.map(Rounds::failing).orElse(0);
    }

    /** Empty where nodes are not drained. */
    public Optional<Drains> drains() {
        return drains;
    }

    public BreakerGate gate() {
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
