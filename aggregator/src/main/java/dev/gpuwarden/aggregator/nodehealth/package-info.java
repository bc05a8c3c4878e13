/** The resource `NodeHealth`: its client, its parser, and the requests that it carries to a node's daemon. */
package dev.gpuwarden.aggregator.nodehealth;
