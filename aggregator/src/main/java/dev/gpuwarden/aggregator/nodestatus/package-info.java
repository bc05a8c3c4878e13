/** Conditions and Events of Nodes. */
package dev.gpuwarden.aggregator.nodestatus;
