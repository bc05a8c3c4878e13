/** Runs CEL expressions of strangers with a bound on what each evaluation costs. */
package dev.gpuwarden.aggregator.cel;
