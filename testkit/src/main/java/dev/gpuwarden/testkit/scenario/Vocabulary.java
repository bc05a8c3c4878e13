package dev.gpuwarden.testkit.scenario;

import java.util.Set;

/**
 * The names that the simulator defines.
 *
 * @param functions of any generation's library
 * @param lies kinds of false answers, for example "not-utf8"
 */
public record Vocabulary(Set<String> functions, Set<String> lies) {}
