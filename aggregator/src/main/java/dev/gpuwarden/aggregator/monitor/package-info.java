/** Objects of the cluster that policies look at, and what is told of the nodes that they concern. */
package dev.gpuwarden.aggregator.monitor;
