/** The readings of a GPU at each tick: a plan as data, and its two interpreters. */
package dev.gpuwarden.nat.telemetry;
