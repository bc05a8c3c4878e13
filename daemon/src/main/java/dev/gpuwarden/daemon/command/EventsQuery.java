package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListEventsResponse;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.StoredEvent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;

/** Requests pages until there are enough events. */
final class EventsQuery {

    private static final int PAGE = 1000;

    private EventsQuery() {}

    /**
     * The last events.
     *
     * @param events oldest first
     * @param more whether older events match the conditions
     */
    record Answer(List<StoredEvent> events, boolean more) {}

    /**
     * @param daemon returns one page
     * @param names names of the selected GPU, one of which an event must carry; empty for all events
     */
    static Answer last(
            Function<ListEventsRequest, ListEventsResponse> daemon,
            ListEventsRequest conditions,
            List<Entity> names,
            int limit) {
        if (names.isEmpty()) {
            return cut(last(daemon, conditions, limit), limit);
        }
        // A request takes one name. The last of all are among the last of each.
        TreeMap<Long, StoredEvent> all = new TreeMap<>(Comparator.reverseOrder());
        for (Entity name : names) {
            ListEventsRequest one =
                    conditions.toBuilder().setEntityValue(name.value()).build();
            last(daemon, one, limit).forEach(event -> all.put(event.sequence(), event));
        }
        return cut(List.copyOf(all.values()), limit);
    }

    /** Returns one event more than the limit if there are more. */
    private static List<StoredEvent> last(
            Function<ListEventsRequest, ListEventsResponse> daemon, ListEventsRequest conditions, int limit) {
        List<StoredEvent> events = new ArrayList<>();
        String token = "";
        do {
            ListEventsResponse page = daemon.apply(conditions.toBuilder()
                    .setNewestFirst(true)
                    .setPageSize(Math.min(PAGE, limit + 1 - events.size()))
                    .setPageToken(token)
                    .build());
            page.getEventsList().forEach(event -> events.add(FaultCodec.fromWire(event)));
            token = page.getNextPageToken();
        } while (!token.isEmpty() && events.size() <= limit);
        return events;
    }

    private static Answer cut(List<StoredEvent> newestFirst, int limit) {
        List<StoredEvent> events = new ArrayList<>(newestFirst.subList(0, Math.min(limit, newestFirst.size())));
        java.util.Collections.reverse(events);
        return new Answer(List.copyOf(events), newestFirst.size() > limit);
    }
}
