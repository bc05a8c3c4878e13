/** The interface of a feature of the aggregator, and the classes for its rights, metrics and audit records. */
package dev.gpuwarden.aggregator.part;
