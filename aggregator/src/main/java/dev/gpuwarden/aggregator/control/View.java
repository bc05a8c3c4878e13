package dev.gpuwarden.aggregator.control;

import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.quarantine.BreakerGate;
import dev.gpuwarden.aggregator.quarantine.Pools;
import dev.gpuwarden.aggregator.rules.RuleBook;
import java.util.function.Supplier;

/** What a replica knows of the fleet, to be looked at only. */
public record View(Steering.Settings settings, Fleet fleet, Supplier<RuleBook> rules, BreakerGate gate, Pools pools) {}
