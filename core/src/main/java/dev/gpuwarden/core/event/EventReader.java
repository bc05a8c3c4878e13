package dev.gpuwarden.core.event;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** What the node knows of events and faults. Thread-safe. */
public interface EventReader {

    /** The current faults, oldest first. From memory: never waits for the disk. */
    List<Fault> faults();

    /** What was reported and is not among the faults, since there is no room. From memory: never waits for the disk. */
    default LeftOut leftOut() {
        return LeftOut.NONE;
    }

    /** Reads the store. */
    List<StoredEvent> events(EventFilter filter);

    Optional<StoredEvent> event(String id);

    /**
     * Tells the listener of each event that is stored or counted from now on, in order, after it is committed. Listeners are
     * called on the store's thread and must neither block nor throw.
     */
    Subscription listen(Consumer<EventChange> listener);

    /** Ends when closed. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
