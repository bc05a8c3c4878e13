package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import dev.gpuwarden.api.kube.DriverUpgrade;
import dev.gpuwarden.api.kube.ForeignJanitor;
import java.util.Optional;

/**
 * A reason outside the rules why no repair of a node may begin now.
 *
 * @param foreign true if another program owns the record of repairs, so that nothing may be written
 */
record RepairObstacle(String why, boolean foreign) {

    static RepairObstacle of(String why) {
        return new RepairObstacle(why, false);
    }

    /**
     * Returns the obstacle; empty without one.
     *
     * @param theirs resource of the node that another janitor works on
     * @param breaker reason of the breaker, if it is open
     */
    static Optional<RepairObstacle> of(
            CachedNode node, FaultReport report, Optional<MaintenanceResource> theirs, Optional<String> breaker) {
        if (RepairAnnotations.isForeign(node)) {
            return Optional.of(new RepairObstacle(
                    "another program has written the annotation latestFaultRemediationState: switch off that"
                            + " program's remediation, then remove the annotation",
                    true));
        }
        return theirs.map(each -> "another janitor works on this node: "
                        + each.kind().resources().kind() + " " + each.name() + " has its finalizer "
                        + ForeignJanitor.FINALIZER)
                .or(() -> DriverUpgrade.underWay(node.labels()))
                .or(() -> report.unfitFor(node))
                .or(() -> breaker)
                .map(RepairObstacle::of);
    }
}
