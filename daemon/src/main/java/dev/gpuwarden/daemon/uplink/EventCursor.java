package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader;
import dev.gpuwarden.daemon.sink.Wakeup;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Whether there are new events, and the number of the last one whose effect on the faults is surely to be seen. */
final class EventCursor implements AutoCloseable {

    private final Wakeup bell = new Wakeup();
    private final AtomicBoolean unread = new AtomicBoolean();
    private final AtomicBoolean fatal = new AtomicBoolean();
    private final AtomicLong last = new AtomicLong();
    private final EventReader.Subscription subscription;

    private EventCursor(EventReader book) {
        // Told after the faults are up to date. Repetitions that are only counted change no fault and are nothing to
        // send.
        subscription = book.listen(told -> {
            if (raise(told.stored().sequence())) {
                if (told.stored().event().fatal()) {
                    fatal.set(true);
                }
                unread.set(true);
                bell.ring();
            }
        });
    }

    /**
     * Listens first, then looks for the last event. A reader may see an event a moment before it is in the faults in memory;
     * registering waits for the store's writer, and so for that moment to pass.
     */
    static EventCursor of(UplinkNode node) {
        EventCursor news = new EventCursor(node.book());
        long newest = node.book().events(EventFilter.all().newestFirst(1)).stream()
                .mapToLong(stored -> stored.sequence())
                .findFirst()
                .orElse(0);
        node.outbox().register(Uplink.NAME);
        news.raise(newest);
        return news;
    }

    private boolean raise(long sequence) {
        return last.getAndAccumulate(sequence, Math::max) < sequence;
    }

    long lastSequence() {
        return last.get();
    }

    /** Whether there was something since the last call. */
    boolean take() {
        return unread.getAndSet(false);
    }

    /** Whether a fatal fault was among it since the last call. */
    boolean takeFatal() {
        return fatal.getAndSet(false);
    }

    Wakeup bell() {
        return bell;
    }

    @Override
    public void close() {
        subscription.close();
    }
}
