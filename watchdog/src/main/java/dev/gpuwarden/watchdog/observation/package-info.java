/** The input of a decision: one GPU's memory and its tenants at one time. */
package dev.gpuwarden.watchdog.observation;
