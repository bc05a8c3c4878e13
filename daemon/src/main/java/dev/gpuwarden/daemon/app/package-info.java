/** Wiring: the one place that depends on every part of the daemon. */
package dev.gpuwarden.daemon.app;
