package dev.gpuwarden.benchmarks;

import dev.gpuwarden.aggregator.breaker.Breaker;
import dev.gpuwarden.aggregator.breaker.BreakerState;
import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.health.Claim;
import dev.gpuwarden.aggregator.health.Held;
import dev.gpuwarden.aggregator.health.NoSuchNode;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.health.NodeState;
import dev.gpuwarden.aggregator.health.Superseded;
import dev.gpuwarden.aggregator.quarantine.Decision;
import dev.gpuwarden.aggregator.quarantine.Mode;
import dev.gpuwarden.aggregator.quarantine.Quarantine;
import dev.gpuwarden.aggregator.quarantine.Report;
import dev.gpuwarden.aggregator.rules.RuleBook;
import dev.gpuwarden.aggregator.tell.Conditions;
import dev.gpuwarden.aggregator.tell.Teller;
import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Makes the four writes that a faulty node costs, with the very bodies that the aggregator writes, all thought out before: what no
 * program can be faster than. Thread-safe, for different nodes.
 */
final class BareClient {

    /** What is to be written of a node. */
    private record Prepared(NodeRead node, Held held, NodeState state, Decision.Act act) {}

    private final ClusterApi api;
    private final RuleBook rules;
    private final NodeHealths healths;
    private final Conditions conditions;
    private final Teller teller;
    private final Map<String, Prepared> prepared = new ConcurrentHashMap<>();

    BareClient(ClusterApi api, RuleBook rules) {
        this.api = api;
        this.rules = rules;
        this.healths = new NodeHealths(api);
        this.conditions = new Conditions(api, Clock.systemUTC());
        this.teller = new Teller(api);
    }

    /** The node has a fault, and nothing is written yet. */
    Held fails(String node) throws ClusterException, NoSuchNode, InterruptedException {
        FaultTable faults = new FaultTable();
        var unused = faults.apply(LoadDaemon.event(node, 1, false), 1, Instant.now());
        return prepare(node, faults.faults());
    }

    private Held prepare(String node, List<Fault> faults) throws ClusterException, NoSuchNode, InterruptedException {
        Instant now = Instant.now();
        Held held = healths.look(node);
        NodeRead there = NodeRead.of(api.get(Fleet.NODES.path(node)));
        Report report = new Report(node, there.uid(), Report.Standing.TRUSTED, "", faults, Set.of(), 0);
        Breaker.Answer yes = new Breaker.Answer(true, "", BreakerState.NEW);
        Decision decision = Quarantine.decide(there, report, rules, any -> yes, Mode.ARMED, now);
        if (!(decision instanceof Decision.Act act)) {
            throw new IllegalStateException(node + ": expected something to do, found " + decision);
        }
        Claim claim = Claim.next(held.claim(), now, "bare");
        NodeState state = new NodeState(node, "boot", "load", now, claim, 1, 1, 0, faults);
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

    /** NodeHealth, then Node. */
    Map<String, Object> cordon(String node) throws ClusterException, NoSuchNode, Superseded, InterruptedException {
        Prepared of = prepared(node);
        var unused = healths.write(of.state(), of.held());
        return api.patch(Fleet.NODES.path(node), of.act().patch());
    }

    /** All four. */
    String writes(String node) throws ClusterException, NoSuchNode, Superseded, InterruptedException {
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

    /** As it was, but for what stays on a Node that was in quarantine once. */
    String undo(String node) throws ClusterException, NoSuchNode, Superseded, InterruptedException {
        var unused = prepare(node, List.of());
        var unusedToo = writes(node);
        api.delete(NodeHealths.ALL.path(node));
        return node;
    }
}
