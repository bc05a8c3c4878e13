/** Outcomes, findings and the decisions about them, as pure functions. */
package dev.gpuwarden.core.health;
