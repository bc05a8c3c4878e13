/** The circuit breaker: caps how many nodes leave service, and how fast. Its policy is pure; its state is in a ConfigMap. */
package dev.gpuwarden.aggregator.breaker;
