package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Reading;

/**
 * The node's facts about one process.
 *
 * @param command the process's short name, untrusted
 */
public record ProcessFacts(Reading<String> command, Owner owner) {}
