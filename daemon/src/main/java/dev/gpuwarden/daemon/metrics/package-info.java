/** Everything that Prometheus scrapes, and the HTTP server that it is scraped from. */
package dev.gpuwarden.daemon.metrics;
