package dev.gpuwarden.aggregator.web;

import dev.gpuwarden.aggregator.part.Part;
import dev.gpuwarden.aggregator.part.Replica;
import dev.gpuwarden.aggregator.quarantine.QuarantinePart;
import dev.gpuwarden.aggregator.remediation.RepairPart;
import dev.gpuwarden.aggregator.web.FleetView.Decisions;
import dev.gpuwarden.aggregator.web.FleetView.ReplicaState;
import dev.gpuwarden.cli.web.HttpHandler;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Mixin;

/** The page of the fleet, while quarantine is on. */
public final class PagePart implements Part {

    @Mixin
    PageOptions options = new PageOptions();

    private final QuarantinePart quarantine;
    private final RepairPart repair;
    private final Decisions decisions = new Decisions();

    public PagePart(QuarantinePart quarantine, RepairPart repair) {
        this.quarantine = quarantine;
        this.repair = repair;
    }

    @Override
    public void start(Replica replica) {
        replica.audits().listen(decisions::add);
    }

    @Override
    public List<HttpHandler> pages(Replica replica) {
        return state(replica)
                .map(state -> new FleetView(
                        state, replica.api(), decisions::last, replica.api().clock()))
                .map(view -> FleetPage.of(view, replica.api(), options))
                .orElse(List.of());
    }

    /** Returns the state of this replica; empty if quarantine is off. */
    public Optional<ReplicaState> state(Replica replica) {
        return quarantine.controller().map(nodes -> new ReplicaState(replica.cache(), nodes, repair.maintenance()));
    }
}
