package dev.gpuwarden.aggregator.control;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.drain.DrainNews;
import dev.gpuwarden.aggregator.drain.DrainRehearsal;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.HealthRead;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.health.NodeHealths;
import dev.gpuwarden.aggregator.quarantine.Decision;
import dev.gpuwarden.aggregator.quarantine.Mode;
import dev.gpuwarden.aggregator.quarantine.NodeQuarantine;
import dev.gpuwarden.aggregator.quarantine.QuarantineNews;
import dev.gpuwarden.aggregator.quarantine.Report;
import dev.gpuwarden.aggregator.rules.RuleShelf;
import dev.gpuwarden.aggregator.tell.Conditions;
import dev.gpuwarden.aggregator.tell.News;
import dev.gpuwarden.aggregator.tell.Teller;
import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/** What is to be done about one node: first what is urgent, then what is told of it. */
final class NodeWork {

    private final ClusterApi api;
    private final Mode mode;
    private final Fleet fleet;
    private final RuleShelf rules;
    private final NodeQuarantine quarantine;
    private final Conditions conditions;
    private final Teller teller;
    private final Clock clock;
    private final SteeringTally tally;
    private final BooleanSupplier followed;
    private final Function<String, Optional<DrainRehearsal>> rehearsals;

    /**
     * @param followed whether NodeHealths are watched at this moment
     * @param rehearsals what a dry run would do to the pods of a node
     */
    NodeWork(
            ClusterApi api,
            Mode mode,
            Fleet fleet,
            RuleShelf rules,
            NodeQuarantine quarantine,
            Conditions conditions,
            Teller teller,
            Clock clock,
            SteeringTally tally,
            BooleanSupplier followed,
            Function<String, Optional<DrainRehearsal>> rehearsals) {
        this.api = api;
        this.mode = mode;
        this.fleet = fleet;
        this.rules = rules;
        this.quarantine = quarantine;
        this.conditions = conditions;
        this.teller = teller;
        this.clock = clock;
        this.tally = tally;
        this.followed = followed;
        this.rehearsals = rehearsals;
    }

    /** Out of service, or back. */
    void decide(String node) throws ClusterException, InterruptedException {
        long start = System.nanoTime();
        Decision decision = quarantine.settle(report(node, clock.instant()), rules.book(), mode);
        tally.decided(decision, System.nanoTime() - start);
    }

    /** What people read of it. */
    void tell(String node) throws ClusterException, InterruptedException {
        Optional<NodeRead> there = fleet.node(node);
        if (there.isEmpty()) {
            teller.forget(node);
            return;
        }
        Instant now = clock.instant();
        Report report = Reports.of(node, fleet.health(node), now);
        if (mode == Mode.ARMED && report.unfitFor(there.get()).isEmpty()) {
            conditions.settle(there.get(), report.faults(), report.isWhole());
        }
        Optional<QuarantineNews> quarantined = mode == Mode.ARMED
                ? QuarantineNews.of(there.get())
                : QuarantineNews.would(
                        quarantine.look(report, rules.book()), report.youngest().orElse(now));
        List<QuarantineNews> news = new ArrayList<>(quarantined.stream().toList());
        news.addAll(DrainNews.of(there.get()));
        news.addAll(DrainNews.would(rehearsals.apply(node)));
        teller.tell(node, News.of(there.get(), news, report.faults(), now));
    }

    /** What is acted on is what is so now, and not what a watch tells that has been away. */
    private Report report(String node, Instant now) throws ClusterException, InterruptedException {
        Optional<HealthRead> health = fleet.healthRead(node);
        Report report = Reports.of(node, health.map(HealthRead::tree), now);
        if (health.isPresent()
                && (!followed.getAsBoolean() || Reports.isOld(health.get(), now))
                && quarantine.look(report, rules.book()) instanceof Decision.Act) {
            Map<String, Object> newest = api.get(NodeHealths.ALL.path(node));
            fleet.answered(newest);
            return Reports.of(node, Optional.of(newest), now);
        }
        return report;
    }
}
