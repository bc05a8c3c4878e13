/** Commands for people: what is with a cluster's nodes and why, and what only people decide. */
package dev.gpuwarden.aggregator.command;
