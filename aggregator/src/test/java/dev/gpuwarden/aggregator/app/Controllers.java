package dev.gpuwarden.aggregator.app;

import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.controller.LeaderListener;
import dev.gpuwarden.aggregator.controller.Manager;
import dev.gpuwarden.aggregator.drain.DrainReconciler;
import dev.gpuwarden.aggregator.janitor.JanitorSettings;
import dev.gpuwarden.aggregator.part.AuditLog;
import dev.gpuwarden.aggregator.part.AuditLog.Entry;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.provider.NodeProvider;
import dev.gpuwarden.aggregator.quarantine.AuditRecord;
import dev.gpuwarden.aggregator.quarantine.QuarantineController;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.remediation.RepairReconciler;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator.RuleCondition;
import dev.gpuwarden.aggregator.web.FleetView.ReplicaState;
import dev.gpuwarden.cli.run.Closer;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** The parts of the program that act on nodes, with a test's settings and receivers of audit records in place of options. */
public final class Controllers implements AutoCloseable {

    /** The settings of drains. */
    record Draining(DrainReconciler.Settings settings, Consumer<Entry> audits) {}

    /** The settings of repairs. @param janitor empty if another program carries out the resources */
    record Repairing(RepairReconciler.Settings settings, Consumer<Entry> audits, Optional<JanitorSettings> janitor) {}

    private final Closer closer = new Closer();
    private final Parts parts = new Parts();
    private final Replica replica;

    private Controllers(KubeClient api) {
        this.replica = replica(api, closer);
    }

    /** Returns a replica whose parts have their own receivers of audit records. */
    static Replica replica(KubeClient api, Closer closer) {
        return new Replica(api, closer.add(new Manager(api)), new NodeCache(api.clock()), AuditLog.open(null), closer);
    }

    public static Controllers start(KubeClient api, QuarantineSettings settings, Consumer<AuditRecord> audits) {
        return start(api, settings, audits, Optional.empty(), Optional.empty());
    }

    static Controllers start(
            KubeClient api,
            QuarantineSettings settings,
            Consumer<AuditRecord> audits,
            Optional<Draining> drains,
            Optional<Repairing> repairs) {
        Controllers controllers = new Controllers(api);
        Parts parts = controllers.parts;
        Replica replica = controllers.replica;
        parts.quarantine.start(replica, settings, audits);
        drains.ifPresent(set -> parts.drain.start(replica, set.settings(), set.audits()));
        repairs.ifPresent(set -> {
            set.janitor().ifPresent(janitor -> parts.janitor.start(replica, janitor, NodeProvider.none(), audit -> {}));
            parts.repair.start(replica, set.settings(), set.audits());
        });
        parts.all.forEach(part -> part.run(replica));
        return controllers;
    }

    void onLeading(LeaderListener listener) {
        replica.manager().onLeading(listener);
    }

    Set<String> waitingFor() {
        return replica.manager().waitingFor();
    }

    List<RuleCondition> ruleConditions() {
        return quarantine().rules().conditions();
    }

    private QuarantineController quarantine() {
        return parts.quarantine.controller().orElseThrow();
    }

    public NodeCache cache() {
        return replica.cache();
    }

    ReplicaState view() {
        return parts.page.state(replica).orElseThrow();
    }

    public boolean works() {
        return quarantine().works();
    }

    public int queued() {
        return quarantine().queued();
    }

    /** Returns the resources whose turn comes or is under way. */
    int maintained() {
        return parts.janitor.controller().orElseThrow().queue().size();
    }

    int failing() {
        return quarantine().failing();
    }

    Set<String> held() {
        return quarantine().held();
    }

    CircuitBreaker breaker() {
        return quarantine().breaker();
    }

    Optional<DrainReconciler> drains() {
        return parts.drain.drains();
    }

    Optional<RepairReconciler> repairs() {
        return parts.repair.repairs();
    }

    @Override
    public void close() {
        closer.close();
    }
}
