package dev.gpuwarden.aggregator.command;

import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * All that is known of one node.
 *
 * @param events of Kubernetes, as the API server has them
 */
record NodeStory(Instant at, NodeFacts facts, NodeLook look, Around around, Seen<List<Map<String, Object>>> events) {}
