package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Room;
import java.util.LinkedHashMap;
import java.util.Map;

/** Counts of the events received since start, by kind. Bounded, since senders choose names and codes. Thread-safe. */
public final class EventCounts {

    /** The number of different kinds, shared among agents. Later kinds are counted together. */
    static final int MOST_KINDS = 500;

    static final String OTHER = "other";

    private final Map<Kind, Long> counts = new LinkedHashMap<>();
    private final Room room = new Room(MOST_KINDS);

    /** @param codes joined with commas */
    public record Kind(String agent, String check, String codes, boolean fatal, boolean healthy) {}

    synchronized void add(HealthEvent event, long times) {
        Kind kind = new Kind(
                event.agent(), event.checkName(), String.join(",", event.errorCodes()), event.fatal(), event.healthy());
        if (!counts.containsKey(kind)) {
            if (room.left(event.agent(), event.fatal()) > 0) {
                room.take(event.agent(), event.fatal(), 1);
            } else {
                kind = new Kind(OTHER, OTHER, OTHER, event.fatal(), event.healthy());
            }
        }
        counts.merge(kind, times, Long::sum);
    }

    synchronized Map<Kind, Long> all() {
        return new LinkedHashMap<>(counts);
    }
}
