package dev.gpuwarden.core.event;

import java.util.List;
import java.util.Optional;

/** The write side of the event store. Thread-safe. */
public interface EventWriter {

    /**
     * Stores the events and the position of their source in one transaction. Blocks until the transaction is
     * committed and synced; only then may the caller act on the events or acknowledge them. Events that the disk does
     * not take are held in memory, and the receipts report that.
     *
     * @param position the place in the source after these events, returned by {@link #position(String)} after a
     *     restart
     * @return one receipt for each event, in order
     * @throws IllegalArgumentException if an event violates {@link HealthEvent.EventLimits}; no event is stored then
     */
    List<Receipt> accept(List<HealthEvent> events, Optional<Position> position);

    default Receipt accept(HealthEvent event) {
        return accept(List.of(event), Optional.empty()).get(0);
    }

    /** Returns the position that was stored with the last accepted events of a source. */
    Optional<Position> position(String source);

    /**
     * A position in a source of events.
     *
     * @param source for example "kmsg" or "file:/var/log/kern.log"
     * @param bootId the boot in which the cursor is valid
     * @param cursor in the source's own terms
     */
    record Position(String source, String bootId, String cursor) {}

    /** The outcome for one event. */
    enum Receipt {
        STORED,
        /** The fault was current already: counted with the event that raised it. */
        COUNTED,
        /** The same event arrived before: dropped. */
        DUPLICATE,
        /**
         * Held in memory because the disk takes no writes or there is none; written when it can be. The caller must
         * not acknowledge it.
         */
        HELD,
        /** Lost, and counted as lost, because neither disk nor memory has room. The caller must not acknowledge it. */
        REFUSED
    }
}
