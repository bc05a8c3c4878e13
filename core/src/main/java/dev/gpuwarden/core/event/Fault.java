package dev.gpuwarden.core.event;

import java.time.Instant;
import java.util.Comparator;

/**
 * A fault that is current.
 *
 * @param cause the event that raised it or last changed what to do about it
 * @param sequence the cause's number in the event store; 0 while the disk takes nothing and it waits in memory
 * @param since when it was first seen
 * @param lastSeen when it was last confirmed
 * @param occurrences how often it was told since it is current
 */
public record Fault(FaultKey key, HealthEvent cause, long sequence, Instant since, Instant lastSeen, long occurrences) {

    /** In which faults are listed where not all may fit: the fatal ones first, then the newest. */
    public static final Comparator<Fault> FATAL_THEN_NEWEST = Comparator.comparing(
                    (Fault fault) -> !fault.cause().fatal())
            .thenComparing(Fault::since, Comparator.reverseOrder());
}
