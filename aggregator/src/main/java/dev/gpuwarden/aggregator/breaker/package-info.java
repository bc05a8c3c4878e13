/**
 * The circuit breaker: caps how many nodes leave service, and how fast. {@link dev.gpuwarden.aggregator.breaker.Pool} has the limits,
 * {@link dev.gpuwarden.aggregator.breaker.BreakerPolicy} compares them (pure), and the state is in a ConfigMap.
 */
package dev.gpuwarden.aggregator.breaker;
