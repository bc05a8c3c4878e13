/** The command `aggregator`: the list of its parts, and what they share. */
package dev.gpuwarden.aggregator.app;
