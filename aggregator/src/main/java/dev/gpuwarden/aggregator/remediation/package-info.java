/**
 * Remediation: from a drained node to a resource for its repair, one action per node at a time. The decision is pure; the state
 * is on the Node.
 */
package dev.gpuwarden.aggregator.remediation;
