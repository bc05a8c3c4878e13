package dev.gpuwarden.aggregator.objectmonitor;

/**
 * Why the objects of a policy are not followed, and what to do about it.
 *
 * @param reason of its condition
 */
record Trouble(String reason, String message) {}
