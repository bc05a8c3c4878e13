/** Who acts, on what, and in which order: one leader, one node at a time, again until it is done. */
package dev.gpuwarden.aggregator.control;
