package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ResourceKind;
import dev.gpuwarden.aggregator.maintenance.MaintenanceKind;
import dev.gpuwarden.aggregator.maintenance.RepairKind;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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

    /**
     * A resource to create.
     *
     * @param own the user's own way of repair; empty for a resource of this program's kinds
     */
    public record Request(RepairKind kind, Map<String, Object> body, Optional<OwnWay> own) {}

    /**
     * The surroundings of a template's resource.
     *
     * @param leases place of the lock
     * @param lease lock of the node, taken before
     * @param complete type of the condition that is True after success
     * @param operator true if an operator must act also after success
     */
    public record OwnWay(
            String template, ResourceKind leases, Map<String, Object> lease, String complete, boolean operator) {}

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
        List<MaintenanceResource> ofNode =
                all.stream().filter(each -> each.isFor(node.name(), node.uid())).toList();
        Optional<RepairObstacle> obstacle =
                RepairObstacle.of(node, report, MaintenanceResources.foreign(ofNode), breaker);
        RepairFacts facts = facts(node, report, ofNode, obstacle, settings, settings.manual(), now);
        RepairDecision decision = RepairDecision.decide(facts);
        if (decision.kind() == RepairDecision.Kind.APPROVAL) {
            RepairDecision approved =
                    RepairDecision.decide(facts(node, report, ofNode, obstacle, settings, false, now));
            return new RepairRehearsal(
                    Result.APPROVAL, decision.why(), requests(node, facts.demands(), approved, settings));
        }
        return new RepairRehearsal(
                result(decision.kind()), decision.why(), requests(node, facts.demands(), decision, settings));
    }

    private static RepairFacts facts(
            CachedNode node,
            FaultReport report,
            List<MaintenanceResource> resources,
            Optional<RepairObstacle> obstacle,
            RepairReconciler.Settings settings,
            boolean manual,
            Instant now)
            throws IOException {
        RepairFacts.Policy policy = new RepairFacts.Policy(
                true, manual, settings.attempts(), settings.memory(), settings.settle(), settings.templates());
        return RepairFacts.of(node, report, resources, obstacle, policy, now);
    }

    private static List<Request> requests(
            CachedNode node, List<Demand> demands, RepairDecision decision, RepairReconciler.Settings settings) {
        return decision.create().stream()
                .map(repair -> settings.templates()
                        .of(repair.group())
                        .map(template -> ofTemplate(node, demands, repair, template, settings.lockNamespace()))
                        .orElseGet(() -> new Request(
                                repair.group().kind(), RepairRequests.body(node, repair), Optional.empty())))
                .toList();
    }

    private static Request ofTemplate(
            CachedNode node, List<Demand> demands, Repair repair, RepairTemplate template, String lockNamespace) {
        ResourceKind leases = MaintenanceKind.locks(lockNamespace);
        return new Request(
                template.kind(),
                template.body(node.name(), node.uid(), repair, RepairRequests.values(node, repair, demands)),
                Optional.of(new OwnWay(
                        template.name(),
                        leases,
                        TemplateLock.lease(leases, node, repair),
                        template.complete(),
                        template.operator())));
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
