/** The choice of a tenant to recycle, its limits and its reasons. */
package dev.gpuwarden.watchdog.decision;
