package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import java.time.Instant;

/**
 * That a fault was raised, means something else now, or was lifted.
 *
 * @param subject under the names by which the fault was raised
 * @param finding the look that decided
 * @param flaps how often it came and went lately; 0 where it does not flap
 */
public record FaultChange(
        Kind kind, CheckInfo check, Subject subject, Meaning meaning, Finding finding, int flaps, Instant at) {

    /** What became of the fault. */
    public enum Kind {
        RAISED,
        /** The same code, but fatality or action are others. */
        CHANGED,
        /** It is well again, but comes and goes, and so is held. */
        HELD,
        LIFTED
    }

    /** What a fault says, so that others act on it. */
    public record Meaning(String code, boolean fatal, RecommendedAction action) {
        static Meaning of(Finding finding) {
            boolean fatal = finding.outcome() == Outcome.FAIL && finding.action() != RecommendedAction.NONE;
            return new Meaning(finding.code(), fatal, finding.action());
        }
    }
}
