/** The page that shows a fleet, and who may look at it. */
package dev.gpuwarden.aggregator.page;
