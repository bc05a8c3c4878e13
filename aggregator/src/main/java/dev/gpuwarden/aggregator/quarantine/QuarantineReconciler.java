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
import java.util.Optional;
import java.util.function.Consumer;

/**
 * The reconciler of a Node's quarantine: it decides, then writes the Node. If another writer has changed the Node since it was
 * read, the reconciler decides again. Thread-safe; the breaker serves one node after the other.
 */
public final class QuarantineReconciler {

    private static final int MOST_TRIES = 8;

    private final KubeClient api;
    private final NodeCache cache;
    private final CircuitBreaker breaker;
    private final boolean forcePasses;
    private final Clock clock;
    private final Consumer<AuditRecord> audits;

    /**
     * @param forcePasses true if a node that a sender forces out of service passes without the breaker
     * @param audits the receiver of each decision before its write; in a dry run too, without the write
     */
    public QuarantineReconciler(
            KubeClient api,
            NodeCache cache,
            CircuitBreaker breaker,
            boolean forcePasses,
            Clock clock,
            Consumer<AuditRecord> audits) {
        this.api = api;
        this.cache = cache;
        this.breaker = breaker;
        this.forcePasses = forcePasses;
        this.clock = clock;
        this.audits = audits;
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

    /** Returns the decision from the cached Node, as a dry run. Sends no request, and changes nothing. */
    public Decision evaluate(FaultReport report, RuleEvaluator rules) {
        return cache.node(report.node())
                .map(node -> decide(node, report, rules, ActionMode.DRY_RUN))
                .orElseGet(() -> noNode(report));
    }

    private static Decision noNode(FaultReport report) {
        return new Decision.Leave("there is no Node " + report.node(), false);
    }

    private static boolean outrun(ApiException e) {
        return e.conflict() || e.invalid();
    }

    private Decision decide(CachedNode node, FaultReport report, RuleEvaluator rules, ActionMode mode) {
        return QuarantineDecider.decide(
                node,
                report,
                rules,
                mode == ActionMode.ARMED ? breaker::ask : breaker::evaluate,
                forcePasses,
                mode,
                clock.instant());
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
