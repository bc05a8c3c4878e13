package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.OpenVerification;
import dev.gpuwarden.core.node.ReportedGpus;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The faults that the newest NodeHealth of a node has, and its GPUs. A quarantine may stand for faults that are over by now, or
 * whose check passes: only a current one is a reason for an act. Pure.
 *
 * @param gpus GPUs that the node reports
 */
public record CurrentFaults(List<Fault> faults, ReportedGpus gpus) {

    /** Nothing is known, so nothing is a reason for an act. */
    public static final CurrentFaults NONE = new CurrentFaults(List.of(), ReportedGpus.NONE);

    public CurrentFaults {
        faults = List.copyOf(faults);
    }

    /**
     * Reads the faults, also those of a report that is old: a node that has become silent still has them.
     *
     * @param health newest NodeHealth; empty if there is none
     */
    public static CurrentFaults of(Optional<Map<String, Object>> health) {
        if (health.isEmpty()) {
            return NONE;
        }
        try {
            NodeHealth read = NodeHealth.read(health.get());
            return new CurrentFaults(read.faults(), read.gpus());
        } catch (UnreadableNodeHealth e) {
            return NONE;
        }
    }

    /** Returns those of the events of a quarantine for which an act may begin or go on now. */
    public List<HealthEvent> reasons(List<HealthEvent> holding) {
        Set<FaultKey> acting = faults.stream()
                .filter(fault -> !fault.cause().isHeld())
                .map(Fault::key)
                .collect(Collectors.toSet());
        return holding.stream()
                .filter(event -> event.keys().stream().anyMatch(acting::contains))
                .toList();
    }

    /** Returns the names of the GPUs whose verification after a repair waits because a process has the GPU. */
    public Set<Entity> awaited() {
        return faults.stream()
                .map(Fault::cause)
                .filter(OpenVerification::isHeld)
                .flatMap(cause -> cause.entities().stream())
                .collect(Collectors.toSet());
    }
}
