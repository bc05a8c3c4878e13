/** Caps how many nodes are taken out of service, and how fast. Pure: its state is data that the caller keeps. */
package dev.gpuwarden.aggregator.breaker;
