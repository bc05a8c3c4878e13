/**
 * VRAM budgets of pods without an aggregator, by the daemon's own account: it follows this node's pods and its Node, writes the
 * amount, and deletes pods that a PodDisruptionBudget would let go.
 */
package dev.gpuwarden.daemon.vram.account;
