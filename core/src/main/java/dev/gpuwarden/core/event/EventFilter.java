package dev.gpuwarden.core.event;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The conditions of an event query. An event must meet all of them; an empty condition matches every event.
 *
 * @param agents any of these
 * @param checks any of these
 * @param codes at least one code of the event is among these
 * @param entityValue an entity of the event has this value
 * @param from received or last seen at or after this time
 * @param until received before this time
 * @param afterSequence the sequence number of the last event of the previous page: only events after it in the
 *     requested order match, with greater numbers, or smaller ones with {@code newestFirst}; 0 starts at the
 *     beginning
 * @param newestFirst false for oldest first
 * @param limit the largest number of events; 0 for the store's own limit
 */
public record EventFilter(
        List<String> agents,
        List<String> checks,
        List<String> codes,
        Optional<String> entityValue,
        Optional<Boolean> fatal,
        Optional<Boolean> healthy,
        Optional<Instant> from,
        Optional<Instant> until,
        long afterSequence,
        boolean newestFirst,
        int limit) {

    public static EventFilter all() {
        return new EventFilter(
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                0,
                false,
                0);
    }

    /** Returns the same conditions for events after a sequence number, oldest first, this many at most. */
    public EventFilter after(long sequence, int most) {
        return new EventFilter(agents, checks, codes, entityValue, fatal, healthy, from, until, sequence, false, most);
    }

    /**
     * Returns the same conditions, limited to the newest events.
     *
     * @param most the largest number of events
     */
    public EventFilter newestFirst(int most) {
        return new EventFilter(
                agents, checks, codes, entityValue, fatal, healthy, from, until, afterSequence, true, most);
    }
}
