package dev.gpuwarden.aggregator.remediation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Everything that a decision about a node's repair uses.
 *
 * @param uid UID of the Node
 * @param resources all maintenance resources of the node
 * @param obstacle reason why nothing may be done now; empty if it may
 */
record RepairFacts(
        String node,
        String uid,
        List<Demand> demands,
        DrainStanding drain,
        List<MaintenanceResource> resources,
        RepairRecord record,
        Optional<String> obstacle,
        RepairApproval approval,
        Policy policy,
        Instant now) {

    RepairFacts {
        demands = List.copyOf(demands);
        resources = List.copyOf(resources);
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

        /** Returns true if the pods have left that an action of the group would disturb. */
        boolean covers(RepairGroup group) {
            return finished && (full || !group.restarts() && gpus.containsAll(group.gpus()));
        }
    }

    /**
     * @param armed false in a dry run, which does not wait for the drain
     * @param manual true if each action waits for an operator's approval
     * @param attempts number of resets of one GPU, and of reboots for one GPU, within {@code memory}
     * @param memory time for which earlier attempts count
     * @param settle time that a node has after a repair to report that the fault is over
     */
    record Policy(boolean armed, boolean manual, int attempts, Duration memory, Duration settle) {

        static final Policy DEFAULT = new Policy(true, false, 2, Duration.ofDays(7), Duration.ofMinutes(5));
    }
}
