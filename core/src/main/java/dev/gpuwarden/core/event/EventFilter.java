package dev.gpuwarden.core.event;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Which events are asked for: all conditions hold at once; an empty one holds for every event.
 *
 * @param agents any of these
 * @param checks any of these
 * @param codes at least one code of the event is among these
 * @param entityValue an entity of the event has this value
 * @param from received or last seen at or after
 * @param until received before
 * @param afterSequence only what comes after this event in the order asked for: greater numbers, or smaller ones with
 *     {@code newestFirst}; 0 means from the beginning. So the last event of a page is where the next page goes on
 * @param newestFirst otherwise oldest first
 * @param limit at most so many; 0 means the store's own limit
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

    /** The last ones of the same. */
    public EventFilter newestFirst(int most) {
        return new EventFilter(
                agents, checks, codes, entityValue, fatal, healthy, from, until, afterSequence, true, most);
    }
}
