/** The Prometheus metrics: their collectors, and the handler that serves them. */
package dev.gpuwarden.daemon.metrics;
