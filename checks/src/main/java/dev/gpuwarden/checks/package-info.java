/** The check runner, and the events that its results produce. */
package dev.gpuwarden.checks;
