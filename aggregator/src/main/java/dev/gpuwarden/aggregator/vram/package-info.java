/**
 * VRAM budgets of the nodes that report to this replica: it sends each node its pods' budgets, writes the value that a node
 * advertises into its Node, and ends pods at a node's request. Nodes decide; this part holds each to itself and its own pods.
 */
package dev.gpuwarden.aggregator.vram;
