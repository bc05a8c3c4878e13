/** What people and other programs read on Nodes of faults and decisions: conditions and Events. */
package dev.gpuwarden.aggregator.tell;
