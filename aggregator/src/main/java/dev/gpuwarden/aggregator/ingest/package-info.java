/** Takes the reports of nodes (uplink.proto). */
package dev.gpuwarden.aggregator.ingest;
