/** The uplink: reports the node's faults and events to the aggregator, and answers its requests. */
package dev.gpuwarden.daemon.uplink;
