package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap;
import dev.gpuwarden.aggregator.breaker.BreakerConfigMap.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import dev.gpuwarden.aggregator.ruleset.RuleSetStore;
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
import java.util.function.ToIntFunction;

/**
 * The controllers of quarantine: nodes, their status, the ConfigMap of the breaker and the status of rule sets. When the replica
 * begins to lead, all nodes are reconciled once, and from then on each node that changes.
 */
public final class QuarantineController {

    /**
     * The number of workers for nodes. Each waits for one answer. Requests beyond those that the API server answers
     * concurrently only wait there.
     */
    private static final int THREADS = 32;

    private static final int STATUS_THREADS = 8;

    /** The interval at which nodes that the breaker refused, or that their maintenance holds, are reconciled without another cause. */
    private static final long ASK_AGAIN_SECONDS = 5;

    private static final String BREAKER = "breaker";

    private final Replica replica;
    private final QuarantineSettings settings;
    private final List<NodeStep> steps;
    private final NodeFilter attention = new NodeFilter();
    private final PoolCounts pools;
    private final CircuitBreaker breaker;
    private final RuleSetStore rules;
    private final QuarantineReconciler quarantine;
    private final NodeReconciler reconciler;
    private final WorkQueue nodes;
    /** A separate queue, so that a cordon never waits for the conditions and Events of a thousand other nodes. */
    private final WorkQueue statuses;

    private final WorkQueue chores;

    /** @param steps those that follow quarantine, which are complete when this controller runs */
    QuarantineController(
            Replica replica, QuarantineSettings settings, Consumer<AuditRecord> audits, List<NodeStep> steps) {
        this.replica = replica;
        this.settings = settings;
        this.steps = steps;
        KubeClient api = replica.api();
        // The clock of the API server, since a successor compares the times that this replica writes.
        Clock clock = api.clock();
        this.nodes = replica.manager().queue("node", THREADS);
        this.statuses = replica.manager().queue("conditions and Events of node", STATUS_THREADS);
        this.chores = replica.manager().queue("chore", 2);
        BreakerPolicy policy = new BreakerPolicy(settings.pools());
        this.pools = new PoolCounts(policy);
        replica.cache().listen(new NodeCache.Listener() {
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
        });
        this.rules = new RuleSetStore(api, clock, this::rulesChanged, chores::add);
        this.breaker = new CircuitBreaker(policy, pools, clock, () -> chores.add(BREAKER));
        this.quarantine = new QuarantineReconciler(
                api, replica.cache(), breaker, settings.forcePasses(), clock, audits, this::inProgress);
        this.reconciler = new NodeReconciler(replica, settings.mode(), rules, quarantine, steps);
    }

    /** Follows the cluster, and seeks to lead. */
    void run() {
        Manager manager = replica.manager();
        BreakerConfigMap store = new BreakerConfigMap(
                settings.namespace(),
                new BreakerSettingsAnnotation(settings.mode(), settings.pools(), Optional.of(modes())),
                replica.api(),
                breaker,
                replica.api().clock(),
                this::askAgain,
                () -> chores.add(BREAKER));
        statuses.run(reconciler::updateStatus);
        nodes.run(name -> {
            try {
                reconciler.decide(name);
            } finally {
                statuses.add(name);
                steps.forEach(step -> step.queue().ifPresent(queue -> queue.add(name)));
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
        unused = manager.watch(NodeHealthClient.ALL, replica.cache().healths());
        unused = manager.watch(NodeCache.NODES, replica.cache().nodes());
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
        for (NodeStep step : steps) {
            Optional<String> found = step.inProgress(node);
            if (found.isPresent()) {
                return found;
            }
        }
        return Optional.empty();
    }

    /** Queues a node, for example because it has news for operators. */
    public void changed(String node) {
        nodes.add(node);
    }

    /** Queues a node whose maintenance has changed, if it waits for the end of that. */
    public void maintained(String node) {
        if (quarantine.holds(node)) {
            nodes.add(node);
        }
    }

    /** Returns the nodes without faults that wait for the end of their maintenance. */
    public Set<String> held() {
        return quarantine.held();
    }

    /** Returns the modes of the steps that follow. */
    public StepModes modes() {
        StepModes modes = StepModes.OFF;
        for (NodeStep step : steps) {
            modes = step.in(modes);
        }
        return modes;
    }

    public QuarantineSettings settings() {
        return settings;
    }

    public PoolCounts pools() {
        return pools;
    }

    public CircuitBreaker breaker() {
        return breaker;
    }

    public RuleSetStore rules() {
        return rules;
    }

    QuarantineMetrics metrics() {
        return reconciler.metrics();
    }

    /** Returns whether this replica leads, and its controllers run. */
    public boolean works() {
        return replica.manager().isRunning();
    }

    /** Returns the number of nodes that wait or are reconciled now, in this step and those that follow. */
    public int queued() {
        return nodes.size() + statuses.size() + ofSteps(WorkQueue::size);
    }

    /** Returns the number of names that failed and wait for their retry. */
    public int failing() {
        return nodes.failing() + statuses.failing() + chores.failing() + ofSteps(WorkQueue::failing);
    }

    private int ofSteps(ToIntFunction<WorkQueue> count) {
        return steps.stream()
                .flatMap(step -> step.queue().stream())
                .mapToInt(count)
                .sum();
    }
}
