package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Subject;
import java.util.List;
import java.util.Optional;

/**
 * The progress of a part between healthy and faulty. It explains a fault whose check passes, and a failing check
 * without a fault.
 *
 * @param code of the fault
 * @param looks runs in a row so far; 0 where the fault is held
 * @param needed number of runs that decide; 0 where the fault is held
 */
public record Damping(CheckInfo check, Subject subject, String code, Phase phase, int looks, int needed) {

    /** The direction of the change. */
    public enum Phase {
        /** Failed runs that do not make a fault yet. */
        FAILING,
        /** A fault with passed runs that do not clear it yet. */
        RECOVERING,
        /** A flapping fault, which is cleared after ten minutes without a failure. */
        HELD
    }

    /** Returns the progress in words: "recovering, 2 of 4 passes". */
    public String text() {
        return switch (phase) {
            case FAILING -> "failing, " + looks + " of " + needed;
            case RECOVERING -> "recovering, " + looks + " of " + needed + " passes";
            case HELD -> "held, since it came and went: over after 10 min of passes";
        };
    }

    /** Returns the progress of this fault; empty where it has none, or belongs to no check. */
    public static Optional<Damping> of(Fault fault, List<Damping> all) {
        if (!fault.key().agent().equals(FindingEvents.AGENT)) {
            return Optional.empty();
        }
        return all.stream()
                .filter(each -> each.phase != Phase.FAILING
                        && each.check.eventName().equals(fault.key().checkName())
                        && each.code.equals(fault.key().errorCode())
                        && each.subject.entities().equals(fault.cause().entities()))
                .findFirst();
    }
}
