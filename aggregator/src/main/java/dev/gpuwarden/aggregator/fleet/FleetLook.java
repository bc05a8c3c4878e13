package dev.gpuwarden.aggregator.fleet;

import java.time.Instant;
import java.util.List;

/**
 * A cluster as it was.
 *
 * @param nodes the worst first
 * @param facts of all of them, in no order
 */
public record FleetLook(Instant at, List<NodeAssessment> nodes, List<NodeFacts> facts, ClusterContext around) {}
