package dev.gpuwarden.aggregator.command;

import java.time.Instant;
import java.util.List;

/**
 * A cluster as it was.
 *
 * @param nodes the worst first
 * @param facts of all of them, in no order
 */
record FleetLook(Instant at, List<NodeLook> nodes, List<NodeFacts> facts, Around around) {}
