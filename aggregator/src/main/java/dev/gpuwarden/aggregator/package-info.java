/** The cluster side: receives the reports of nodes, stores them as NodeHealths, and acts on them. */
package dev.gpuwarden.aggregator;
