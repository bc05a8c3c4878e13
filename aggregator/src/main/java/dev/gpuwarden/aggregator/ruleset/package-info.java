/** Rule sets of quarantine: parses them and evaluates them on health events. Pure. */
package dev.gpuwarden.aggregator.ruleset;
