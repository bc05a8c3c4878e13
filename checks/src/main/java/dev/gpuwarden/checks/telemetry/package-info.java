/** Sampling: a thread for each GPU, a deadline for each call, and the readings that remain when the driver hangs. */
package dev.gpuwarden.checks.telemetry;
