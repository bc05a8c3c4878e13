/**
 * VRAM budgets of pods. The decisions are made on the node. An aggregator, or the daemon's own account, sees the pods, advertises
 * the node's amount and evicts.
 */
package dev.gpuwarden.daemon.vram.kube;
