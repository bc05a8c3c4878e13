/** Pods as the cluster side reads them, and the requests that end one: for drains, maintenance and VRAM budgets. */
package dev.gpuwarden.aggregator.pods;
