/**
 * The parts of the aggregator: {@link dev.gpuwarden.aggregator.part.Part} is what each feature implements, the other classes are what
 * it uses for its rights, its metrics and its audit records.
 */
package dev.gpuwarden.aggregator.part;
