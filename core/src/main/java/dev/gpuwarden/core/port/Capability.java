package dev.gpuwarden.core.port;

/**
 * One function of the driver library.
 *
 * @param symbol the exported name
 * @param feature its purpose in the user's words, which is lost where it is missing
 * @param available whether the loaded library has it
 * @param note the fall-back, or the reason why it is missing; may be empty
 */
public record Capability(String symbol, String feature, boolean available, String note) {}
