package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.event.StoredEvent;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;

/** Which event is sent next, and which of those sent are not acknowledged. Holds a few events, and of those sent the numbers. */
final class EventWindow {

    /** Read at once; 16 of the largest are 256,000 characters. */
    private static final int SLICE = 16;

    private final EventReader book;
    private final Deque<StoredEvent> read = new ArrayDeque<>();
    private final Deque<Long> sent = new ArrayDeque<>();
    private int refused;
    /** Of the last event that was sent or needs no sending. */
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

    /** There may be something new in the store. */
    void more() {
        more = true;
    }

    /** The next event, if there is one and the limits allow it now. Reads the store. */
    Optional<StoredEvent> next(SendLimits limits, long nowNanos) {
        if (sent.size() >= limits.window() || paced && nowNanos - notBeforeNanos < 0) {
            return Optional.empty();
        }
        if (read.isEmpty() && more) {
            EventFilter all = EventFilter.all();
            read.addAll(book.events(new EventFilter(
                    all.agents(),
                    all.checks(),
                    all.codes(),
                    all.entityValue(),
                    all.fatal(),
                    all.healthy(),
                    all.from(),
                    all.until(),
                    position,
                    false,
                    SLICE)));
            more = !read.isEmpty();
        }
        return Optional.ofNullable(read.peek());
    }

    /** What {@link #next} gave is on its way. */
    void sent(StoredEvent event, SendLimits limits, long nowNanos) {
        read.remove();
        sent.add(event.sequence());
        position = event.sequence();
        paced = limits.eventNanos() > 0;
        notBeforeNanos = nowNanos + limits.eventNanos();
    }

    /** Returns how many of those sent are kept now. */
    int acknowledged(long sequence) {
        refused = 0;
        int kept = 0;
        while (!sent.isEmpty() && sent.peek() <= sequence) {
            sent.remove();
            kept++;
        }
        return kept;
    }

    /** False where no such event waits for an answer. */
    boolean refused(long sequence) {
        boolean known = sent.remove(sequence);
        refused += known ? 1 : 0;
        return known;
    }

    /** Refused, and not yet covered by an acknowledgement. */
    int refused() {
        return refused;
    }

    int unacknowledged() {
        return sent.size();
    }

    boolean idle() {
        return sent.isEmpty() && read.isEmpty() && !more;
    }

    /** How long to wait although there is room for another event; without end if only the other side can change that. */
    long pauseNanos(SendLimits limits, long nowNanos) {
        boolean waits = paced && (more || !read.isEmpty()) && sent.size() < limits.window();
        return waits ? Math.max(0, notBeforeNanos - nowNanos) : Long.MAX_VALUE;
    }
}
