package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Reading;

/**
 * The node's facts about one process.
 *
 * @param startTicks field 22 of /proc/PID/stat, which distinguishes it from a later process with the same PID
 * @param command the process's short name, untrusted
 */
public record ProcessFacts(Reading<Long> startTicks, Reading<String> command, Owner owner) {}
