package dev.gpuwarden.aggregator.fleet;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * All that is known of one node.
 *
 * @param events of Kubernetes, as the API server has them
 */
public record NodeStory(
        Instant at,
        NodeFacts facts,
        NodeAssessment look,
        ClusterContext around,
        Seen<List<Map<String, Object>>> events) {}
