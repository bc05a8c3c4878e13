/** The Kubernetes API as this program uses it. */
package dev.gpuwarden.aggregator.cluster;
