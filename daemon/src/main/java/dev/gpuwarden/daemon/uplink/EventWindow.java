package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.FlowLimits;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.StoredEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The send window of events: the next event to send, and the sent events that are not acknowledged. It holds a few
 * events, and only the numbers and sizes of sent ones.
 */
final class EventWindow {

    /** Events of one read; 16 of the largest have 256,000 characters. */
    private static final int SLICE = 16;

    private final EventReader book;
    /**
     * Characters of sent events that are not acknowledged. A fatal fault goes ahead of the events that wait here, and not of those
     * that are on their way: large events would delay it by seconds.
     */
    private static final int MOST_CHARACTERS = 64_000;

    private final Deque<StoredEvent> read = new ArrayDeque<>();
    private final Deque<Sent> sent = new ArrayDeque<>();
    private int sentCharacters;
    private int refused;
    /** The number of the last event that was sent or skipped. */
    private long position;

    private boolean more = true;
    private boolean paced;
    private long notBeforeNanos;

    EventWindow(EventReader book) {
        this.book = book;
    }

    long position() {
        return position;
    }

    void passOver(long sequence) {
        position = Math.max(position, sequence);
    }

    /** Marks that the store may have new events. */
    void more() {
        more = true;
    }

    /** Returns the next event, if there is one and the limits allow it now. Reads the store. */
    Optional<StoredEvent> next(SendLimits limits, long nowNanos) {
        if (full(limits) || paced && nowNanos - notBeforeNanos < 0) {
            return Optional.empty();
        }
        if (read.isEmpty() && more) {
            read.addAll(book.events(EventFilter.all().after(position, SLICE)));
            more = !read.isEmpty();
        }
        return Optional.ofNullable(read.peek());
    }

    /** Marks the event that {@link #next} returned as sent. */
    void sent(StoredEvent event, SendLimits limits, long nowNanos) {
        read.remove();
        sent.add(new Sent(event.sequence(), event.event().characters()));
        sentCharacters += event.event().characters();
        position = event.sequence();
        paced = limits.eventNanos() > 0;
        notBeforeNanos = nowNanos + limits.eventNanos();
    }

    /** Acknowledges sent events and returns their number. */
    int acknowledged(long sequence) {
        refused = 0;
        int kept = 0;
        while (!sent.isEmpty() && sent.peek().sequence() <= sequence) {
            sentCharacters -= sent.remove().characters();
            kept++;
        }
        return kept;
    }

    /** Marks a sent event as refused. Returns false if no such event waits for an answer. */
    boolean refused(long sequence) {
        Optional<Sent> known =
                sent.stream().filter(one -> one.sequence() == sequence).findFirst();
        known.ifPresent(one -> {
            sent.remove(one);
            sentCharacters -= one.characters();
            refused++;
        });
        return known.isPresent();
    }

    /** Returns the number of refused events that no acknowledgement covers yet. */
    int refused() {
        return refused;
    }

    int unacknowledged() {
        return sent.size();
    }

    boolean idle() {
        return sent.isEmpty() && read.isEmpty() && !more;
    }

    /**
     * Returns the pause before the next event although the window has room; {@code Long.MAX_VALUE} if only an
     * acknowledgement can end the pause.
     */
    long pauseNanos(SendLimits limits, long nowNanos) {
        boolean waits = paced && (more || !read.isEmpty()) && !full(limits);
        return waits ? Math.max(0, notBeforeNanos - nowNanos) : Long.MAX_VALUE;
    }

    private boolean full(SendLimits limits) {
        return sent.size() >= limits.window() || sentCharacters >= MOST_CHARACTERS;
    }

    /** A sent event that is not acknowledged. */
    private record Sent(long sequence, int characters) {}

    /**
     * The aggregator's flow limits, restricted to safe ranges.
     *
     * @param window the number of events that may be sent and not acknowledged
     * @param eventNanos between two events
     * @param heartbeatNanos the longest time without a message of the node
     */
    record SendLimits(int window, long eventNanos, long heartbeatNanos) {

        static final int WINDOW = 100;
        static final int WIDEST_WINDOW = 1000;
        private static final double HEARTBEAT_SECONDS = 30;
        private static final double LONGEST_SECONDS = 600;
        private static final double NANOS = TimeUnit.SECONDS.toNanos(1);

        static SendLimits of(FlowLimits limits) {
            int asked = limits.getMaxUnacknowledgedEvents();
            double rate = limits.getMaxEventsPerSecond();
            double heartbeat = limits.getHeartbeatPeriodSeconds();
            return new SendLimits(
                    asked > 0 ? Math.min(asked, WIDEST_WINDOW) : WINDOW,
                    rate > 0 ? (long) (Math.min(1 / rate, LONGEST_SECONDS) * NANOS) : 0,
                    (long) ((heartbeat > 0 ? Math.max(1, Math.min(heartbeat, LONGEST_SECONDS)) : HEARTBEAT_SECONDS)
                            * NANOS));
        }
    }
}
