/** Drains nodes in quarantine: selects pods, evicts them, and reports what keeps them there. */
package dev.gpuwarden.aggregator.drain;
