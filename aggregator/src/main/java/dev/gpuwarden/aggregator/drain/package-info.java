/**
 * Drains nodes in quarantine: selects pods, evicts them, and reports what keeps them there. {@link
 * dev.gpuwarden.aggregator.drain.DrainPlan} decides for each pod; {@link dev.gpuwarden.aggregator.drain.DrainPolicies} has the
 * settings of that.
 */
package dev.gpuwarden.aggregator.drain;
