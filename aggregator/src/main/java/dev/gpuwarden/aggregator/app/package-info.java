/** The command `aggregator`: its options, its composition root and its metrics. */
package dev.gpuwarden.aggregator.app;
