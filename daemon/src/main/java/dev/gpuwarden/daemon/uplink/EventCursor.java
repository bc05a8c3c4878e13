package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.core.util.Wakeup;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The position of the newest event, and flags for new events. The position is that of the last event whose effect on
 * the faults is certainly visible.
 */
final class EventCursor implements AutoCloseable {

    private final Wakeup wakeup = new Wakeup();
    private final AtomicBoolean unread = new AtomicBoolean();
    private final AtomicLong last = new AtomicLong();
    private final AtomicLong lastFatal = new AtomicLong();
    private final EventReader.Subscription subscription;

    private EventCursor(EventReader book) {
        // Called after the faults are up to date. Repetitions that are only counted change no fault and are not
        // sent.
        subscription = book.listen(change -> {
            if (raise(change.stored().sequence())) {
                if (change.stored().event().fatal()) {
                    lastFatal.accumulateAndGet(change.stored().sequence(), Math::max);
                }
                unread.set(true);
                wakeup.signal();
            }
        });
    }

    /**
     * Registers a listener, then reads the last event. A reader may see an event shortly before it is among the
     * faults in memory; registering waits for the store's writer, and so for that moment to pass.
     */
    static EventCursor of(UplinkNode node) {
        EventCursor cursor = new EventCursor(node.book());
        long newest = node.book().events(EventFilter.all().newestFirst(1)).stream()
                .mapToLong(stored -> stored.sequence())
                .findFirst()
                .orElse(0);
        node.outbox().register(Uplink.NAME);
        cursor.raise(newest);
        return cursor;
    }

    private boolean raise(long sequence) {
        return last.getAndAccumulate(sequence, Math::max) < sequence;
    }

    long lastSequence() {
        return last.get();
    }

    /** Returns whether there was a new event since the last call. */
    boolean take() {
        return unread.getAndSet(false);
    }

    /** Returns the number of the newest fatal event since the start; 0 before there was one. */
    long lastFatal() {
        return lastFatal.get();
    }

    Wakeup wakeup() {
        return wakeup;
    }

    @Override
    public void close() {
        subscription.close();
    }
}
