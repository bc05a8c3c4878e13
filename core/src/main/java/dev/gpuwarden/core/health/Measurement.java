package dev.gpuwarden.core.health;

/**
 * A measured value of a finding.
 *
 * @param name with its unit as last word, for example "temperature_celsius"
 * @param expected the limit and its direction, for example "at least 5 (limits.tsv:12)"; empty where there is none
 */
public record Measurement(String name, double value, String expected) {}
