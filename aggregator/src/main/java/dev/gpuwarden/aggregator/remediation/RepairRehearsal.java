package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The repair that would follow the drain of a node. Pure, and for display.
 *
 * @param requests resources to create
 */
public record RepairRehearsal(Result result, String why, List<Request> requests) {

    /** The result of the decision. */
    public enum Result {
        /** Resources are made. */
        ACTS,
        /** Resources are made after an operator's approval. */
        APPROVAL,
        /** All pods must leave first. */
        DRAIN,
        /** Another repair is under way. */
        WAITS,
        /** Only an operator can continue. */
        PERSON,
        /** Another program, the breaker or the report forbids any action. */
        BLOCKED,
        /** The faults request no action. */
        NOTHING
    }

    /** A resource to create. */
    public record Request(MaintenanceKind kind, Map<String, Object> body) {}

    public RepairRehearsal {
        requests = List.copyOf(requests);
    }

    /**
     * Returns the repair.
     *
     * @param node the Node as its quarantine and its drain leave it
     * @param existing the API server's objects by kind
     * @param breaker reason of the breaker, if it is open
     * @throws IOException if an annotation of the Node cannot be read
     */
    public static RepairRehearsal of(
            CachedNode node,
            FaultReport report,
            Map<MaintenanceKind, List<Map<String, Object>>> existing,
            Optional<String> breaker,
            RepairReconciler.Settings settings,
            Instant now)
            throws IOException {
        List<MaintenanceResource> all = new ArrayList<>();
        existing.forEach((kind, trees) -> trees.forEach(tree -> all.add(MaintenanceResource.of(kind, tree))));
        Optional<RepairObstacle> obstacle = RepairObstacle.of(node, report, foreign(all), breaker);
        List<MaintenanceResource> ofNode =
                all.stream().filter(each -> each.isFor(node.name(), node.uid())).toList();
        RepairDecision decision = decide(node, report, ofNode, obstacle, settings, settings.manual(), now);
        if (decision.kind() == RepairDecision.Kind.APPROVAL) {
            RepairDecision approved = decide(node, report, ofNode, obstacle, settings, false, now);
            return new RepairRehearsal(Result.APPROVAL, decision.why(), requests(node, approved));
        }
        return new RepairRehearsal(result(decision.kind()), decision.why(), requests(node, decision));
    }

    private static Optional<MaintenanceResource> foreign(Collection<MaintenanceResource> all) {
        return all.stream()
                .filter(each -> each.finalizers().contains(MaintenanceResources.FOREIGN_FINALIZER))
                .findFirst();
    }

    private static RepairDecision decide(
            CachedNode node,
            FaultReport report,
            List<MaintenanceResource> resources,
            Optional<RepairObstacle> obstacle,
            RepairReconciler.Settings settings,
            boolean manual,
            Instant now)
            throws IOException {
        RepairFacts.Policy policy =
                new RepairFacts.Policy(true, manual, settings.attempts(), settings.memory(), settings.settle());
        return RepairDecision.decide(RepairFacts.of(node, report, resources, obstacle, policy, now));
    }

    private static List<Request> requests(CachedNode node, RepairDecision decision) {
        return decision.create().stream()
                .flatMap(repair -> repair.group().kind() instanceof MaintenanceKind kind
                        ? Stream.of(new Request(kind, RepairRequests.body(node, repair)))
                        : Stream.empty())
                .toList();
    }

    private static Result result(RepairDecision.Kind kind) {
        return switch (kind) {
            case ACT -> Result.ACTS;
            case APPROVAL -> Result.APPROVAL;
            case DRAIN -> Result.DRAIN;
            case WAIT -> Result.WAITS;
            case PERSON -> Result.PERSON;
            case BLOCKED -> Result.BLOCKED;
            case NONE -> Result.NOTHING;
        };
    }
}
