package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.HealthEvent;
import java.util.LinkedHashMap;
import java.util.Map;

/** How many events were taken since start, by what they say. Bounded: names and codes come from others. Thread-safe. */
public final class EventCounts {

    /** So many different ones; what comes later is counted together. */
    static final int MOST_KINDS = 500;

    static final String OTHER = "other";

    private final Map<Kind, Long> counts = new LinkedHashMap<>();

    /** @param codes joined with commas */
    public record Kind(String agent, String check, String codes, boolean fatal, boolean healthy) {}

    synchronized void add(HealthEvent event, long times) {
        Kind kind = new Kind(
                event.agent(), event.checkName(), String.join(",", event.errorCodes()), event.fatal(), event.healthy());
        boolean room = counts.containsKey(kind) || counts.size() < MOST_KINDS;
        counts.merge(room ? kind : new Kind(OTHER, OTHER, OTHER, event.fatal(), event.healthy()), times, Long::sum);
    }

    synchronized Map<Kind, Long> all() {
        return new LinkedHashMap<>(counts);
    }
}
