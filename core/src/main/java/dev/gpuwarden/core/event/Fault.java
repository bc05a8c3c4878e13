package dev.gpuwarden.core.event;

import java.time.Instant;
import java.util.Comparator;

/**
 * A current fault.
 *
 * @param cause the event that raised the fault or last changed its recommended action. Faults of one event have equal causes, and faults of
 *     two events never do
 * @param sequence the cause's number in the event store; 0 while the cause is held in memory, so it identifies no event
 * @param since when the fault was first seen
 * @param lastSeen when the fault was last confirmed
 * @param occurrences the number of reports since the fault was raised
 */
public record Fault(FaultKey key, HealthEvent cause, long sequence, Instant since, Instant lastSeen, long occurrences) {

    /** The order of lists that may be cut short: fatal faults first, then the newest. */
    public static final Comparator<Fault> FATAL_THEN_NEWEST = Comparator.comparing(
                    (Fault fault) -> !fault.cause().fatal())
            .thenComparing(Fault::since, Comparator.reverseOrder());

    /** Returns whether the fault alone makes the node unfit: it is fatal, and programs may act on it. */
    public boolean decides() {
        return cause.fatal() && cause.strategy().actedOn();
    }

    /** Returns whether the fault would make the node unfit, but any user may have written the evidence: an operator must decide. */
    public boolean unproven() {
        return cause.fatal() && !cause.strategy().actedOn() && Proof.isMissing(cause);
    }
}
