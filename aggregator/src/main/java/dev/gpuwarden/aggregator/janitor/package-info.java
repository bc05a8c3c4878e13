/**
 * The janitor: it carries out the resources of {@code maintenance}, one action per node at a time. {@code Steps} decide the next
 * write from what the API server has; {@code StepWriter} makes it. Each write is one step, so a kill between two is harmless.
 */
package dev.gpuwarden.aggregator.janitor;
