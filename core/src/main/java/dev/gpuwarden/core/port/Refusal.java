package dev.gpuwarden.core.port;

/**
 * An answer of the library that cannot be true.
 *
 * @param function that answered
 * @param subject GPU or entry concerned
 * @param seen what came
 * @param count how often this function was refused since start
 */
public record Refusal(String function, String subject, String seen, long count) {}
