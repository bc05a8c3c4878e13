package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.aggregator.nodehealth.TestGpus;
import dev.gpuwarden.aggregator.remediation.RepairFacts.DrainStanding;
import dev.gpuwarden.aggregator.remediation.RepairFacts.Policy;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A node with faults, resources and a clock, whose repair is decided step by step. */
final class RepairScene {

    static final Instant NOW = Instant.parse("2026-11-22T06:00:00Z");
    static final String GPU_A = "GPU-aaaaaaaa-2051-db6c-0430-ffc457bff834";
    static final String GPU_B = "GPU-bbbbbbbb-2051-db6c-0430-ffc457bff834";
    static final String GPU_C = "GPU-cccccccc-2051-db6c-0430-ffc457bff834";

    Instant now = NOW;
    RepairRecord record = RepairRecord.NONE;
    DrainStanding drain = new DrainStanding(true, true, Set.of());
    Policy policy = Policy.DEFAULT;
    String approved = "";
    Optional<RepairObstacle> obstacle = Optional.empty();
    /** The GPUs that the node reports, each of an unknown reset unit. */
    ReportedGpus gpus = TestGpus.ofUnknownUnits(GPU_A, GPU_B, GPU_C);

    final List<Fault> faults = new ArrayList<>();
    final List<MaintenanceResource> resources = new ArrayList<>();

    RepairScene fault(RecommendedAction action, String check, String... gpus) {
        HealthEvent cause = HealthEvent.of("a", "GPU", check)
                .nodeName("n")
                .fatal(true)
                .errorCodes(List.of("48"))
                .action(action)
                .entities(List.of(gpus).stream().map(Entity::gpu).toList())
                .build();
        return fault(cause);
    }

    RepairScene fault(HealthEvent cause) {
        for (FaultKey key : cause.keys()) {
            faults.add(new Fault(key, cause, 1, now, now, 1));
        }
        return this;
    }

    /** Gives the faults of an event another cause. */
    void cause(HealthEvent before, HealthEvent now) {
        faults.replaceAll(each -> each.cause().equals(before)
                ? new Fault(each.key(), now, each.sequence(), each.since(), each.lastSeen(), each.occurrences())
                : each);
    }

    static HealthEvent skipping(RecommendedAction action, String gpu) {
        return HealthEvent.of("a", "GPU", "Xid")
                .nodeName("n")
                .fatal(true)
                .action(action)
                .entities(List.of(Entity.gpu(gpu)))
                .drain(new Overrides(false, true))
                .build();
    }

    CachedNode node() {
        return CachedNode.of(Map.of("metadata", Map.of("name", "n", "uid", "u")));
    }

    List<Demand> demands() {
        return Demand.of(faults, faults.stream().map(Fault::key).toList(), policy.templates(), gpus);
    }

    RepairDecision decide() {
        RepairDecision decision = RepairDecision.decide(new RepairFacts(
                "n",
                "u",
                demands(),
                drain,
                resources,
                record,
                obstacle,
                new RepairApproval(approved, "ann"),
                policy,
                now));
        record = decision.record();
        return decision;
    }

    /** Decides, and makes the resources. */
    List<String> act() {
        List<Repair> create = decide().create();
        create.forEach(this::make);
        return create.stream().map(repair -> repair.group().name()).toList();
    }

    void make(Repair repair) {
        resources.add(resource(
                repair.group().kind(), repair.resource(), "u", repair.group().gpus(), true));
    }

    /** Makes a resource by hand. */
    void byHand(MaintenanceKind kind, String name, String... gpus) {
        resources.add(resource(kind, name, "", Set.of(gpus), false));
    }

    private static MaintenanceResource resource(
            RepairKind kind, String name, String uid, Set<String> gpus, boolean ours) {
        return new MaintenanceResource(kind, name, "n", uid, gpus, List.of(), ours, Optional.empty(), false, "", "");
    }

    /** Ends the resources of a kind that are in progress. */
    void end(RepairKind kind, boolean succeeded) {
        resources.replaceAll(each -> each.kind().equals(kind) && each.inProgress() ? ended(each, succeeded) : each);
    }

    /** Ends the resources of a kind that are in progress, before anything was tried. */
    void refuse(RepairKind kind, String reason) {
        resources.replaceAll(each -> each.kind().equals(kind) && each.inProgress() ? ended(each, false, reason) : each);
    }

    MaintenanceResource ended(MaintenanceResource of, boolean succeeded) {
        return ended(of, succeeded, "");
    }

    MaintenanceResource ended(MaintenanceResource of, boolean succeeded, String reason) {
        return new MaintenanceResource(
                of.kind(),
                of.name(),
                of.node(),
                of.nodeUid(),
                of.gpus(),
                of.finalizers(),
                of.ours(),
                Optional.of(now),
                succeeded,
                reason,
                succeeded ? "" : "the GPU is in use");
    }

    RepairScene later(long seconds) {
        now = now.plusSeconds(seconds);
        return this;
    }
}
