/** Which pods hold a node's GPUs: the question and its answer, both in the node's `NodeHealth`. */
package dev.gpuwarden.aggregator.holdings;
