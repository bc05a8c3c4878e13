/** The object monitor: evaluates MonitorPolicies on objects of the cluster and reports faults of the nodes that they name. */
package dev.gpuwarden.aggregator.objectmonitor;
