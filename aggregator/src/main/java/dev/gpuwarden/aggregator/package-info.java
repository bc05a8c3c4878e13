/** The cluster side: takes what nodes tell, and keeps it where the cluster can see it. */
package dev.gpuwarden.aggregator;
