/** Rule sets of quarantine: what they say, and which of them an event on a node meets. Pure. */
package dev.gpuwarden.aggregator.rules;
