/** Readings of a GPU over time, in memory that native code fills. */
package dev.gpuwarden.core.telemetry;
