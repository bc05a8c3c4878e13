/** The cache of Nodes and NodeHealths, filled by informers. */
package dev.gpuwarden.aggregator.cache;
