/** The resources that request maintenance of a node: GPUReset, RebootNode and TerminateNode. */
package dev.gpuwarden.aggregator.maintenance;
