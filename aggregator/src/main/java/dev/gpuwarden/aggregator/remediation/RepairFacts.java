package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Everything that a decision about a node's repair uses.
 *
 * @param uid UID of the Node
 * @param resources all maintenance resources of the node
 * @param obstacle reason why nothing may begin now; empty if it may
 */
record RepairFacts(
        String node,
        String uid,
        List<Demand> demands,
        DrainStanding drain,
        List<MaintenanceResource> resources,
        RepairRecord record,
        Optional<RepairObstacle> obstacle,
        RepairApproval approval,
        Policy policy,
        Instant now) {

    RepairFacts {
        demands = List.copyOf(demands);
        resources = List.copyOf(resources);
    }

    /**
     * Reads the facts.
     *
     * @param resources all maintenance resources of the node
     * @throws IOException if an annotation of the Node cannot be read
     */
    static RepairFacts of(
            CachedNode node,
            FaultReport report,
            List<MaintenanceResource> resources,
            Optional<RepairObstacle> obstacle,
            Policy policy,
            Instant now)
            throws IOException {
        DrainStanding drain = DrainAnnotation.find(node)
                .map(there -> new DrainStanding(
                        there.finished().isPresent(),
                        there.full().isPresent(),
                        there.gpus().keySet()))
                .orElse(DrainStanding.NONE);
        List<Demand> demands = demands(node, report, policy);
        Optional<RepairObstacle> silent = report.monitorsAlone() && demands.isEmpty()
                ? Optional.of(RepairObstacle.of(report.why()))
                : Optional.empty();
        return new RepairFacts(
                node.name(),
                node.uid(),
                demands,
                drain,
                resources,
                RepairAnnotations.of(node),
                obstacle.or(() -> silent),
                RepairApproval.of(node),
                policy,
                now);
    }

    /**
     * Returns the requests of the faults that hold the node and that the report has.
     *
     * @throws IOException if an annotation of the Node cannot be read
     */
    static List<Demand> demands(CachedNode node, FaultReport report, Policy policy) throws IOException {
        Set<FaultKey> holding = new HashSet<>();
        for (HealthEvent event : QuarantineSummary.holding(node)) {
            holding.addAll(event.keys());
        }
        return Demand.of(report.faults(), holding, policy.templates(), report.gpus());
    }

    /** Returns true if a report that may be acted on has a fault for which the attempt was made. */
    static boolean wants(CachedNode node, FaultReport report, Policy policy, Repair repair) {
        try {
            return report.unfitFor(node).isEmpty()
                    && demands(node, report, policy).stream()
                            .anyMatch(demand -> !demand.isHeld() && repair.isFor(demand));
        } catch (IOException e) {
            return false;
        }
    }

    /** Returns the facts with further resources of the node. */
    RepairFacts and(List<MaintenanceResource> more) {
        List<MaintenanceResource> all = new ArrayList<>(resources);
        all.addAll(more);
        return new RepairFacts(node, uid, demands, drain, all, record, obstacle, approval, policy, now);
    }

    /** Returns true if the pods have left that an action of the group would disturb. A dry run does not wait for them. */
    boolean drained(RepairGroup group) {
        return !policy.armed()
                || switch (policy.templates().drain(group)) {
                    case NONE -> true;
                    case GPU -> drain.covers(group.gpus());
                    case ALL -> drain.covers(Set.of());
                };
    }

    RepairFacts with(RepairRecord other) {
        return new RepairFacts(node, uid, demands, drain, resources, other, obstacle, approval, policy, now);
    }

    /**
     * @param finished true if the drain has finished
     * @param full true if the drain is of all pods
     * @param gpus GPUs whose pods have to leave
     */
    record DrainStanding(boolean finished, boolean full, Set<String> gpus) {

        static final DrainStanding NONE = new DrainStanding(false, false, Set.of());

        DrainStanding {
            gpus = Set.copyOf(gpus);
        }

        /** Returns true if the pods have left that an action on these GPUs would disturb; on the whole node, if there are none. */
        boolean covers(Set<String> of) {
            return finished && (full || !of.isEmpty() && gpus.containsAll(of));
        }
    }

    /**
     * @param armed false in a dry run, which does not wait for the drain
     * @param manual true if each action waits for an operator's approval
     * @param attempts number of resets of one GPU, and of reboots for one GPU, within {@code memory}
     * @param memory time for which earlier attempts count
     * @param settle time that a node has after a repair to report that the fault is over
     * @param templates users' own ways of repair
     */
    record Policy(
            boolean armed, boolean manual, int attempts, Duration memory, Duration settle, RepairTemplates templates) {

        Policy(boolean armed, boolean manual, int attempts, Duration memory, Duration settle) {
            this(armed, manual, attempts, memory, settle, RepairTemplates.NONE);
        }

        static final Policy DEFAULT = new Policy(true, false, 2, Duration.ofDays(7), Duration.ofMinutes(5));
    }
}
