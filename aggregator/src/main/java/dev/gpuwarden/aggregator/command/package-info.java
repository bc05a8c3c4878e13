/** Commands for operators: the state of a cluster's nodes with its reasons, and the decisions that only an operator makes. */
package dev.gpuwarden.aggregator.command;
