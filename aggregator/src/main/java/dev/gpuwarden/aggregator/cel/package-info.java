/** CEL expressions from untrusted objects: compiles them, and bounds the cost of each evaluation. */
package dev.gpuwarden.aggregator.cel;
