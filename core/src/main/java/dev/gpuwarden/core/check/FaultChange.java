package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.time.Instant;

/**
 * A change of a fault: raised, changed in meaning, or cleared.
 *
 * @param subject with the names under which the fault was raised
 * @param finding of the deciding run
 * @param flaps how often the fault was raised and cleared lately; 0 where it does not flap
 */
public record FaultChange(
        Kind kind, CheckInfo check, Subject subject, Meaning meaning, Finding finding, int flaps, Instant at) {

    /** The kind of change. */
    public enum Kind {
        RAISED,
        /** The code is the same; fatality or action differ. */
        CHANGED,
        /** The part is healthy again, but the fault flaps and so is held. */
        HELD,
        LIFTED
    }

    /** The meaning of a fault, on which receivers act. */
    public record Meaning(String code, boolean fatal, RecommendedAction action) {
        static Meaning of(Finding finding) {
            boolean fatal = finding.outcome() == Outcome.FAIL && finding.action() != RecommendedAction.NONE;
            return new Meaning(finding.code(), fatal, finding.action());
        }
    }
}
