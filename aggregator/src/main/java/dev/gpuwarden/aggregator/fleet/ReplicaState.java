package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.breaker.CircuitBreaker;
import dev.gpuwarden.aggregator.breaker.PoolCounts;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.quarantine.QuarantineSettings;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import java.util.function.Supplier;

/** What a replica knows of the fleet, to be looked at only. */
public record ReplicaState(
        QuarantineSettings settings,
        NodeCache fleet,
        Supplier<RuleEvaluator> rules,
        CircuitBreaker gate,
        PoolCounts pools) {}
