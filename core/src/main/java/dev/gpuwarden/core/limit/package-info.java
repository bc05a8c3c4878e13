/** Limits on how often something may happen: rate limits and back-offs. */
package dev.gpuwarden.core.limit;
