/**
 * Which nodes are kept from new work because of their faults, and when they return. The decision is pure and ends in one patch of
 * one Node; what writes it is thin.
 */
package dev.gpuwarden.aggregator.quarantine;
