/** The cluster side. Empty until nodes report to it. */
package dev.gpuwarden.aggregator;
