/** Receives the reports of nodes (uplink.proto) and writes their NodeHealths. */
package dev.gpuwarden.aggregator.ingest;
