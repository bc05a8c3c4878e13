package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.rules.RuleBook;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Has a Node decided about, and writes what comes of it. When somebody else has written the Node meanwhile, all is decided anew.
 * Thread-safe; the breaker is asked for one node after the other.
 */
public final class NodeQuarantine {

    private static final int MOST_TRIES = 8;

    private final ClusterApi api;
    private final Fleet fleet;
    private final BreakerGate gate;
    private final boolean forcePasses;
    private final Clock clock;
    private final Consumer<Audit> audits;

    /**
     * @param forcePasses whether the breaker is not asked about a node that a sender forces out of service
     * @param audits gets each decision that is going to be written, or would be in a dry run, before it is
     */
    public NodeQuarantine(
            ClusterApi api, Fleet fleet, BreakerGate gate, boolean forcePasses, Clock clock, Consumer<Audit> audits) {
        this.api = api;
        this.fleet = fleet;
        this.gate = gate;
        this.forcePasses = forcePasses;
        this.clock = clock;
        this.audits = audits;
    }

    /**
     * Blocks until the Node is as it must be.
     *
     * @return what was done, or why nothing was
     * @throws ClusterException where the API server cannot be reached, refuses, or others write the Node all the time: whoever
     *     asked tries again later
     */
    public Decision settle(Report report, RuleBook rules, Mode mode) throws ClusterException, InterruptedException {
        Decision decision = written(report, rules, mode);
        if (!(decision instanceof Decision.Leave leave) || !leave.refused()) {
            gate.content(report.node());
        }
        return decision;
    }

    private Decision written(Report report, RuleBook rules, Mode mode) throws ClusterException, InterruptedException {
        Optional<NodeRead> node = fleet.node(report.node());
        Optional<Audit> said = Optional.empty();
        for (int tries = 1; node.isPresent(); tries++) {
            Decision decision = decide(node.get(), report, rules, mode);
            said = say(decision, said);
            if (!(decision instanceof Decision.Act act) || !act.writes()) {
                return decision;
            }
            try {
                var unused = fleet.wrote(api.patch(Fleet.NODES.path(report.node()), act.patch()));
                return decision;
            } catch (ClusterException e) {
                Optional<NodeRead> now = outrun(e) ? read(report.node()) : Optional.empty();
                boolean changed = now.isPresent()
                        && !now.get().resourceVersion().equals(node.get().resourceVersion());
                if (!e.notFound() && (!changed || tries == MOST_TRIES)) {
                    throw e;
                }
                node = now;
            } finally {
                gate.settled(report.node());
            }
        }
        return noNode(report);
    }

    /** What would be done, as far as it is known here. Asks nobody, and changes nothing. */
    public Decision look(Report report, RuleBook rules) {
        return fleet.node(report.node())
                .map(node -> decide(node, report, rules, Mode.DRY_RUN))
                .orElseGet(() -> noNode(report));
    }

    private static Decision noNode(Report report) {
        return new Decision.Leave("there is no Node " + report.node(), false);
    }

    private static boolean outrun(ClusterException e) {
        return e.conflict() || e.invalid();
    }

    private Decision decide(NodeRead node, Report report, RuleBook rules, Mode mode) {
        return Quarantine.decide(
                node, report, rules, mode == Mode.ARMED ? gate::ask : gate::look, forcePasses, mode, clock.instant());
    }

    /** Once, however often the Node changes before it can be written. */
    private Optional<Audit> say(Decision decision, Optional<Audit> before) {
        if (!(decision instanceof Decision.Act act)) {
            return before;
        }
        if (before.filter(act.audit()::repeats).isEmpty()) {
            audits.accept(act.audit());
        }
        return Optional.of(act.audit());
    }

    private Optional<NodeRead> read(String name) throws ClusterException, InterruptedException {
        try {
            return Optional.of(NodeRead.of(api.get(Fleet.NODES.path(name))));
        } catch (ClusterException e) {
            if (e.notFound()) {
                return Optional.empty();
            }
            throw e;
        }
    }
}
