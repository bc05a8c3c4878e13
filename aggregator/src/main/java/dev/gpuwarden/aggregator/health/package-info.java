/** The state of each node, as a resource `NodeHealth` of the cluster. */
package dev.gpuwarden.aggregator.health;
