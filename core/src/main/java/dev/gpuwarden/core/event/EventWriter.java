package dev.gpuwarden.core.event;

import java.util.List;
import java.util.Optional;

/** Where events are handed in. Thread-safe. */
public interface EventWriter {

    /**
     * Keeps the events and how far their source was read, both or neither. Blocks until that is committed and synced: only
     * then may anybody act on them or tell their sender that they arrived. Where the disk takes nothing they are held in
     * memory instead, and the result says so.
     *
     * @param position where their source goes on, for {@link #position(String)} of the next start
     * @return one for each event, in order
     * @throws IllegalArgumentException where an event violates {@link EventLimits}; nothing is kept then
     */
    List<Receipt> accept(List<HealthEvent> events, Optional<Position> position);

    default Receipt accept(HealthEvent event) {
        return accept(List.of(event), Optional.empty()).get(0);
    }

    /** How far a source was read when events of it were last accepted. */
    Optional<Position> position(String source);

    /**
     * How far a source was read.
     *
     * @param source for example "kmsg" or "file:/var/log/kern.log"
     * @param bootId the boot in which the cursor means something
     * @param cursor in the source's own terms
     */
    record Position(String source, String bootId, String cursor) {}

    /** What became of an event. */
    enum Receipt {
        STORED,
        /** The same fault was told again: counted with the event that is there. */
        COUNTED,
        /** The same event arrived a second time: dropped. */
        DUPLICATE,
        /** The disk takes nothing now, or there is none: in memory, written when it can be. Must not be acknowledged. */
        HELD,
        /** Neither disk nor memory have room: lost, and counted as such. Must not be acknowledged. */
        REFUSED
    }
}
