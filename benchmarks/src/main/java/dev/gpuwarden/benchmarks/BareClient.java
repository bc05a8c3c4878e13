package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy;
import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoSuchNode;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.Superseded;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.aggregator.nodestatus.ConditionReconciler;
import dev.gpuwarden.aggregator.nodestatus.NodeEventRecorder;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider;
import dev.gpuwarden.aggregator.quarantine.QuarantineDecider.Decision;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.node.PartNames;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A client that makes the four writes of a faulty node with the aggregator's own bodies, all prepared before. No program can
 * be faster. Thread-safe for different nodes.
 */
final class BareClient {

    /** The prepared bodies for a node. */
    private record Prepared(CachedNode node, StoredHealth held, ReportedState state, Decision.Act act) {}

    private final KubeClient api;
    private final RuleEvaluator rules;
    private final NodeHealthClient healths;
    private final ConditionReconciler conditions;
    private final NodeEventRecorder teller;
    private final Map<String, Prepared> prepared = new ConcurrentHashMap<>();

    BareClient(KubeClient api, RuleEvaluator rules) {
        this.api = api;
        this.rules = rules;
        this.healths = new NodeHealthClient(api);
        this.conditions = new ConditionReconciler(api, Clock.systemUTC());
        this.teller = new NodeEventRecorder(api);
    }

    /** Prepares the writes of a node with a fault. Writes nothing. */
    StoredHealth fails(String node) throws ApiException, NoSuchNode, InterruptedException {
        FaultTable faults = new FaultTable();
        var unused = faults.apply(LoadDaemon.event(node, 1, false), 1, Instant.now());
        return prepare(node, faults.faults());
    }

    private StoredHealth prepare(String node, List<Fault> faults)
            throws ApiException, NoSuchNode, InterruptedException {
        Instant now = Instant.now();
        StoredHealth held = healths.look(node);
        CachedNode there = CachedNode.of(api.get(NodeCache.NODES.path(node)));
        FaultReport report = new FaultReport(node, there.uid(), FaultReport.Standing.TRUSTED, "", faults, Set.of(), 0);
        BreakerPolicy.Answer yes = new BreakerPolicy.Answer(true, "", BreakerState.NEW);
        Decision decision = QuarantineDecider.decide(there, report, rules, any -> yes, ActionMode.ARMED, now);
        if (!(decision instanceof Decision.Act act)) {
            throw new IllegalStateException(node + ": expected something to do, found " + decision);
        }
        StreamEpoch claim = StreamEpoch.next(held.claim(), now, "bare");
        ReportedState state = new ReportedState(node, "boot", "load", now, claim, 1, 1, 0, faults, PartNames.NONE);
        prepared.put(node, new Prepared(there, held, state, act));
        return held;
    }

    private Prepared prepared(String node) {
        Prepared of = prepared.get(node);
        if (of == null) {
            throw new IllegalStateException(node + " is not prepared");
        }
        return of;
    }

    /** Writes the NodeHealth, then the Node. */
    Map<String, Object> cordon(String node) throws ApiException, NoSuchNode, Superseded, InterruptedException {
        Prepared of = prepared(node);
        var unused = healths.write(of.state(), of.held());
        return api.patch(NodeCache.NODES.path(node), of.act().patch());
    }

    /** Makes all four writes. */
    String writes(String node) throws ApiException, NoSuchNode, Superseded, InterruptedException {
        Prepared of = prepared(node);
        var unused = cordon(node);
        conditions.settle(of.node(), of.state().faults(), true);
        Instant now = Instant.now();
        teller.tell(
                node,
                List.of(new EventObject(
                        EventObject.name(node, System.nanoTime()),
                        "Warning",
                        "Quarantined",
                        of.act().reason(),
                        1,
                        false,
                        now,
                        now)));
        return node;
    }

    /** Restores the node, apart from the annotations that stay after a quarantine. */
    String undo(String node) throws ApiException, NoSuchNode, Superseded, InterruptedException {
        var unused = prepare(node, List.of());
        var unusedToo = writes(node);
        api.delete(NodeHealthClient.ALL.path(node));
        return node;
    }
}
