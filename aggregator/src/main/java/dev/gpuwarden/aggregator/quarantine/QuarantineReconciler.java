package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The reconciler of a Node's quarantine: it decides, then writes the Node. If another writer has changed the Node since it was
 * read, the reconciler decides again. Thread-safe; the breaker serves one node after the other.
 */
public final class QuarantineReconciler {

    private static final System.Logger LOG = System.getLogger(QuarantineReconciler.class.getName());

    private static final int MOST_TRIES = 8;

    private final KubeClient api;
    private final NodeCache cache;
    private final CircuitBreaker breaker;
    private final boolean forcePasses;
    private final Clock clock;
    private final Consumer<AuditRecord> audits;
    private final Maintenance maintenance;
    /** The nodes without faults that do not return yet, with the reason. */
    private final Map<String, String> held = new ConcurrentHashMap<>();

    /**
     * @param forcePasses true if a node that a sender forces out of service passes without the breaker
     * @param audits the receiver of each decision before its write; in a dry run too, without the write
     * @param maintenance asked just before a node returns to service
     */
    public QuarantineReconciler(
            KubeClient api,
            NodeCache cache,
            CircuitBreaker breaker,
            boolean forcePasses,
            Clock clock,
            Consumer<AuditRecord> audits,
            Maintenance maintenance) {
        this.api = api;
        this.cache = cache;
        this.breaker = breaker;
        this.forcePasses = forcePasses;
        this.clock = clock;
        this.audits = audits;
        this.maintenance = maintenance;
    }

    /** The maintenance of nodes, during which they do not return. */
    public interface Maintenance {
        /**
         * Returns what is under way on a node, or the reason why that is unknown; empty if nothing is. Blocks.
         *
         * @throws ApiException if the API server does not answer: the node stays, and the caller retries
         */
        Optional<String> inProgress(CachedNode node) throws ApiException, InterruptedException;
    }

    /** Returns the nodes that wait for the end of their maintenance. */
    public Set<String> held() {
        return Set.copyOf(held.keySet());
    }

    /** Returns true if a node waits for the end of its maintenance. */
    public boolean holds(String node) {
        return held.containsKey(node);
    }

    /** Reads the newest report of a node from the API server. Blocks. */
    public interface Refresh {
        FaultReport newest() throws ApiException, InterruptedException;
    }

    /**
     * Brings the Node to its desired state. Blocks.
     *
     * @param refresh present if the report may be stale; called at most once, before anything is written
     * @return the decision, carried out
     * @throws ApiException if the API server fails or refuses, or other writers change the Node all the time: the caller retries
     */
    public Decision reconcile(FaultReport report, Optional<Refresh> refresh, RuleEvaluator rules, ActionMode mode)
            throws ApiException, InterruptedException {
        Decision decision = written(report, refresh, rules, mode);
        if (!decision.reason().equals(held.get(report.node()))) {
            held.remove(report.node());
        }
        if (!(decision instanceof Decision.Leave leave) || !leave.refused()) {
            breaker.content(report.node());
        }
        return decision;
    }

    private Decision written(FaultReport known, Optional<Refresh> refresh, RuleEvaluator rules, ActionMode mode)
            throws ApiException, InterruptedException {
        FaultReport report = known;
        boolean fresh = refresh.isEmpty();
        boolean asks = fresh;
        Optional<CachedNode> node = cache.node(report.node());
        Optional<AuditRecord> audited = Optional.empty();
        for (int tries = 1; node.isPresent(); tries++) {
            Decision decision = decide(node.get(), report, rules, asks ? mode : ActionMode.DRY_RUN);
            if (!fresh && decision instanceof Decision.Act) {
                // The breaker may have counted the node for the stale report.
                breaker.settled(report.node());
                report = refresh.get().newest();
                fresh = true;
                asks = true;
                tries = 0;
                continue;
            }
            if (!asks && decision instanceof Decision.Leave leave && leave.refused()) {
                // Registers the node with the breaker; it needs no fresh report to be refused.
                asks = true;
                tries = 0;
                continue;
            }
            decision = unlessHeld(node.get(), decision);
            audited = audit(decision, audited);
            if (!(decision instanceof Decision.Act act) || !act.writes()) {
                return decision;
            }
            try {
                var unused = cache.wrote(api.patch(NodeCache.NODES.path(report.node()), act.patch()));
                return decision;
            } catch (ApiException e) {
                Optional<CachedNode> now = outrun(e) ? read(report.node()) : Optional.empty();
                boolean changed = now.isPresent()
                        && !now.get().resourceVersion().equals(node.get().resourceVersion());
                if (!e.notFound() && (!changed || tries == MOST_TRIES)) {
                    throw e;
                }
                node = now;
            } finally {
                breaker.settled(report.node());
            }
        }
        return noNode(report);
    }

    /** Tests again just before a node returns to service: it must not while its maintenance is under way. */
    private Decision unlessHeld(CachedNode node, Decision decision) throws ApiException, InterruptedException {
        if (!(decision instanceof Decision.Act act) || act.kind() != Decision.Kind.RETURN || !act.writes()) {
            return decision;
        }
        Optional<String> busy = maintenance.inProgress(node);
        if (busy.isEmpty()) {
            return decision;
        }
        String reason = QuarantineDecider.STAYS + busy.get();
        if (!reason.equals(held.put(node.name(), reason))) {
            LOG.log(System.Logger.Level.INFO, "node " + node.name() + ": " + reason);
        }
        return new Decision.Leave(reason, false, decision.unanswered());
    }

    /** Returns the decision from the cached Node, as a dry run. Sends no request, and changes nothing. */
    public Decision evaluate(FaultReport report, RuleEvaluator rules) {
        return cache.node(report.node())
                .map(node -> decide(node, report, rules, ActionMode.DRY_RUN))
                .orElseGet(() -> noNode(report));
    }

    /** Returns the decision about a Node that is gone, and with it the faults for which rules are evaluated. */
    private static Decision noNode(FaultReport report) {
        return new Decision.Leave("there is no Node " + report.node(), false, Optional.of(List.of()));
    }

    private static boolean outrun(ApiException e) {
        return e.conflict() || e.invalid();
    }

    private Decision decide(CachedNode node, FaultReport report, RuleEvaluator rules, ActionMode mode) {
        return new QuarantineDecider(
                        node,
                        report,
                        rules,
                        mode == ActionMode.ARMED ? breaker::ask : breaker::evaluate,
                        forcePasses,
                        mode,
                        clock.instant())
                .decide();
    }

    /** Records the decision once, however often the Node changes before the write. */
    private Optional<AuditRecord> audit(Decision decision, Optional<AuditRecord> before) {
        if (!(decision instanceof Decision.Act act)) {
            return before;
        }
        if (before.filter(act.audit()::repeats).isEmpty()) {
            audits.accept(act.audit());
        }
        return Optional.of(act.audit());
    }

    private Optional<CachedNode> read(String name) throws ApiException, InterruptedException {
        return api.find(NodeCache.NODES.path(name)).map(CachedNode::of);
    }
}
