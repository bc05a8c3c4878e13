/** Outcomes, findings and the decisions over them, as pure functions. */
package dev.gpuwarden.core.health;
