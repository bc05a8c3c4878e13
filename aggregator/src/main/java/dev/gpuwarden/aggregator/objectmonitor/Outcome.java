package dev.gpuwarden.aggregator.objectmonitor;

import java.time.Instant;
import java.util.Optional;

/**
 * What a policy says of an object at a moment.
 *
 * @param matches whether the object is wrong
 * @param node that it concerns; empty where it does not match, or the policy finds none for it
 * @param problem why the policy could not answer, or found no node; empty where it could
 * @param tooCostly whether that is because it would have taken too long
 * @param timed whether the answer can become another one by the passing of time alone
 * @param changes when it does so next, as far as that can be foreseen
 * @param nanos how long it took to say whether the object is wrong now
 */
public record Outcome(
        boolean matches,
        String node,
        Optional<String> problem,
        boolean tooCostly,
        boolean timed,
        Optional<Instant> changes,
        long nanos) {}
