/** The command `aggregator`: the list of its parts, and its start. */
package dev.gpuwarden.aggregator.app;
