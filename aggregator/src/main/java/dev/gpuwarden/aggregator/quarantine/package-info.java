/**
 * The quarantine of nodes for their faults, and their return to service. The decision is pure and gives one patch of one Node.
 * The reconciler that writes it is thin.
 */
package dev.gpuwarden.aggregator.quarantine;
