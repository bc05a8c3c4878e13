package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.quarantine.FaultReport;
import java.util.Optional;

/** The reasons outside the rules why no repair of a node may begin now. */
final class RepairObstacle {

    private RepairObstacle() {}

    /** Returns the reason; empty without one. */
    static Optional<String> of(
            CachedNode node, FaultReport report, MaintenanceResources resources, CircuitBreaker breaker) {
        if (RepairAnnotations.isForeign(node)) {
            return Optional.of("another program has written the annotation latestFaultRemediationState: switch off that"
                    + " program's remediation, then remove the annotation");
        }
        Optional<MaintenanceResource> foreign = resources.foreign();
        if (foreign.isPresent()) {
            return foreign.map(each -> "another janitor works in this cluster: "
                    + each.kind().resources().kind() + " " + each.name() + " has its finalizer "
                    + MaintenanceResources.FOREIGN_FINALIZER);
        }
        return report.unfitFor(node).or(() -> breaker.openFor(node));
    }
}
