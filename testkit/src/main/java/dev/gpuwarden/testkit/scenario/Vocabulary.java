package dev.gpuwarden.testkit.scenario;

import java.util.Set;

/**
 * Names that the simulator defines.
 *
 * @param functions of any generation's library
 * @param lies ways to spoil an answer, for example "not-utf8"
 */
public record Vocabulary(Set<String> functions, Set<String> lies) {}
