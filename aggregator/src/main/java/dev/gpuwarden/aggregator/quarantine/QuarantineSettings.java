package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.breaker.Pool;
import dev.gpuwarden.aggregator.client.LeaderElector;
import dev.gpuwarden.aggregator.controller.ActionMode;
import java.util.List;

/**
 * The settings of quarantine and of the leader election that guards it.
 *
 * @param namespace the namespace of the Lease and of the breaker's ConfigMap
 * @param identity the name of this replica in the Lease; each replica has its own
 * @param pools the breaker's pools; never empty
 * @param forcePasses true if an event with the override `force` passes the breaker
 */
public record QuarantineSettings(
        String namespace,
        String identity,
        ActionMode mode,
        List<Pool> pools,
        LeaderElector.Times election,
        boolean forcePasses) {}
