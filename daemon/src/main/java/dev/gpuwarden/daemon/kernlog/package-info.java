/** Reads the kernel log, from wherever it can be had, and turns what it says about GPUs into health events. */
package dev.gpuwarden.daemon.kernlog;
