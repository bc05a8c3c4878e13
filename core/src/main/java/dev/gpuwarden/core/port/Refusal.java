package dev.gpuwarden.core.port;

/**
 * An answer of the library that cannot be true.
 *
 * @param function that returned it
 * @param subject GPU or entry concerned
 * @param seen the returned value
 * @param count how often this function was refused since start
 */
public record Refusal(String function, String subject, String seen, long count) {}
