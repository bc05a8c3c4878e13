/** Wiring: the one place that knows every part of the daemon. */
package dev.gpuwarden.daemon.app;
