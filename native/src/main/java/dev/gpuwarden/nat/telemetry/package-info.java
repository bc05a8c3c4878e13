/** What is read from a GPU each tick: a plan that is data, and its two interpreters. */
package dev.gpuwarden.nat.telemetry;
