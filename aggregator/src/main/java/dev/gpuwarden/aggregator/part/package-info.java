/** What each feature of the aggregator implements, and what it uses for its rights, metrics and audit records. */
package dev.gpuwarden.aggregator.part;
