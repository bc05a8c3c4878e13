/** The command `aggregator`. */
package dev.gpuwarden.aggregator.app;
