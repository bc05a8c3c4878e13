package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Room;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Counters of the store since start, and of the events that it received. Thread-safe. */
public final class StoreStats {

    private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(1);

    private final Map<Receipt, Long> receipts = new EnumMap<>(Receipt.class);
    private final Histogram commitMicros = new Histogram(1, LONGEST_MICROS, 2);
    private final EventCounts counts = new EventCounts();
    private long setAside;
    private long deleted;
    private long faultsLeftOut;

    StoreStats() {
        for (Receipt receipt : Receipt.values()) {
            receipts.put(receipt, 0L);
        }
    }

    synchronized void received(PreparedEvent event, Receipt receipt) {
        receipts.merge(receipt, 1L, Long::sum);
        if (receipt != Receipt.DUPLICATE && receipt != Receipt.REFUSED) {
            counts.add(event.event(), event.times());
        }
    }

    EventCounts counts() {
        return counts;
    }

    synchronized void committed(long nanos) {
        commitMicros.recordValue(Math.max(0, Math.min(LONGEST_MICROS, TimeUnit.NANOSECONDS.toMicros(nanos))));
    }

    synchronized void setAside() {
        setAside++;
    }

    synchronized void deleted(int events) {
        deleted += events;
    }

    /** Counts faults that found no room. Returns true for the first of them. */
    synchronized boolean faultsLeftOut(int faults) {
        boolean first = faultsLeftOut == 0 && faults > 0;
        faultsLeftOut += faults;
        return first;
    }

    synchronized Map<Receipt, Long> receipts() {
        return new EnumMap<>(receipts);
    }

    synchronized Histogram commitMicros() {
        return commitMicros.copy();
    }

    synchronized long setAsideFiles() {
        return setAside;
    }

    synchronized long deletedEvents() {
        return deleted;
    }

    synchronized long leftOutFaults() {
        return faultsLeftOut;
    }

    /** Counts of the events received since start, by kind. Bounded, since senders choose names and codes. Thread-safe. */
    public static final class EventCounts {

        /** The number of different kinds, shared among agents. Later kinds are counted together. */
        static final int MOST_KINDS = 500;

        static final String OTHER = "other";

        private final Map<Kind, Long> counts = new LinkedHashMap<>();
        private final Room room = new Room(MOST_KINDS);

        /** @param codes joined with commas */
        public record Kind(String agent, String check, String codes, boolean fatal, boolean healthy) {}

        synchronized void add(HealthEvent event, long times) {
            Kind kind = new Kind(
                    event.agent(),
                    event.checkName(),
                    String.join(",", event.errorCodes()),
                    event.fatal(),
                    event.healthy());
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
}
