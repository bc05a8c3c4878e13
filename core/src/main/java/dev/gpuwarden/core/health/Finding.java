package dev.gpuwarden.core.health;

/**
 * One thing found.
 *
 * @param code stable name in lower-case words, for example "gpu-lost"; documented in README
 * @param subject what it is about: a GPU's UUID, a PCI address, or "node"
 * @param message subject, what was expected, what was seen
 * @param remedy what a person can do next; may be empty
 */
public record Finding(Outcome outcome, String code, String subject, String message, String remedy) {}
