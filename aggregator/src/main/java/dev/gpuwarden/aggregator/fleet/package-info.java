/** What the cluster says of its nodes now, in memory. */
package dev.gpuwarden.aggregator.fleet;
