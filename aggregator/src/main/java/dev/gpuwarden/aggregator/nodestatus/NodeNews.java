package dev.gpuwarden.aggregator.nodestatus;

import java.time.Instant;

/**
 * A Kubernetes Event about a Node's quarantine, drain or repair.
 *
 * @param reason the Event's reason, one word in camel case
 * @param good true for an Event of type Normal, false for a warning
 * @param at the time of the decision
 */
public record NodeNews(String reason, String text, boolean good, Instant at) {}
