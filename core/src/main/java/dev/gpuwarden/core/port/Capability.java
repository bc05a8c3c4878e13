package dev.gpuwarden.core.port;

/**
 * One function of the driver library.
 *
 * @param symbol the name as the library exports it
 * @param feature what it is for, in the user's words; what is lost when it is missing
 * @param available whether the loaded library has it
 * @param note the fall-back that serves instead, or why it is missing; may be empty
 */
public record Capability(String symbol, String feature, boolean available, String note) {}
