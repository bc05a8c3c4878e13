/** Sampling: a thread for each GPU, a deadline for each call, and what is left when the driver hangs. */
package dev.gpuwarden.daemon.telemetry;
