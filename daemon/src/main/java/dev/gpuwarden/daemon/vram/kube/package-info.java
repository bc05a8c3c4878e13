/**
 * VRAM budgets of pods. The aggregator has the rights in Kubernetes: it sends the budgets of this node's pods, advertises the
 * node's amount and evicts. The decisions are made on the node.
 */
package dev.gpuwarden.daemon.vram.kube;
