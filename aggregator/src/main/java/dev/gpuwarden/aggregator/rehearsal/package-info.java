/** The rehearsal of a fault: what the aggregator would do with a node, without a change of the cluster. */
package dev.gpuwarden.aggregator.rehearsal;
