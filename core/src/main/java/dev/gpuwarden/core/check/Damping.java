package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Subject;
import java.util.List;
import java.util.Optional;

/**
 * A part of the node between sound and faulty: why a fault is there though its check passes, or not yet there though it fails.
 *
 * @param code the fault's
 * @param looks in a row so far; 0 where the fault is held
 * @param needed so many decide; 0 where the fault is held
 */
public record Damping(CheckInfo check, Subject subject, String code, Phase phase, int looks, int needed) {

    /** Where to. */
    public enum Phase {
        /** Bad looks that are no fault yet. */
        FAILING,
        /** A fault, and good looks that do not lift it yet. */
        RECOVERING,
        /** A fault that came and went, and is lifted after ten good minutes. */
        HELD
    }

    /** For people: "recovering, 2 of 4 passes". */
    public String text() {
        return switch (phase) {
            case FAILING -> "failing, " + looks + " of " + needed;
            case RECOVERING -> "recovering, " + looks + " of " + needed + " passes";
            case HELD -> "held, since it came and went: over after 10 min of passes";
        };
    }

    /** What is known of this fault; empty where it simply is there, or is no check's. */
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
