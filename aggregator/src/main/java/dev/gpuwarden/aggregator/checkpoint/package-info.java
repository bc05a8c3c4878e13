/** Pods that are told by a signal that their end is near: the requests and the answers, both in the node's `NodeHealth`. */
package dev.gpuwarden.aggregator.checkpoint;
