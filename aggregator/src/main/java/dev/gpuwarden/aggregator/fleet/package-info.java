/** The assessment of each node: its state, the reason and the next action, for the commands and the page. */
package dev.gpuwarden.aggregator.fleet;
