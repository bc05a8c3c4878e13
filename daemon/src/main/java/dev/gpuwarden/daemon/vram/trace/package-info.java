/** Observations and decisions of the watchdog as lines of JSON: traces and records, written by a daemon and read by commands. */
package dev.gpuwarden.daemon.vram.trace;
