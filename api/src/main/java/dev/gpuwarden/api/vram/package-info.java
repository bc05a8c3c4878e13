/**
 * VRAM budgets in Kubernetes objects, for every program with an account there: the budget of a pod, the next write of a Node's
 * capacity, and whether a node may have a pod ended. Pure.
 */
package dev.gpuwarden.api.vram;
