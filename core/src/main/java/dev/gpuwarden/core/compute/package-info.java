/** Measurements of a GPU's memory and arithmetic, and the decisions about their results, as values and pure functions. */
package dev.gpuwarden.core.compute;
