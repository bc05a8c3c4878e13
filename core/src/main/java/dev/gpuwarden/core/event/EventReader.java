package dev.gpuwarden.core.event;

import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The read side of the event store. Thread-safe. */
public interface EventReader {

    /** Returns the current faults, oldest first. Reads memory and never waits for the disk. */
    List<Fault> faults();

    /** Returns the reports whose faults found no room among the current ones. Reads memory and never waits for the disk. */
    default LeftOut leftOut() {
        return LeftOut.NONE;
    }

    /**
     * Returns whether events are only held in memory now: they change the current faults, and reach no listener and no receiver. Reads
     * memory.
     */
    default boolean holding() {
        return false;
    }

    /** Returns the events that match the filter. Reads the store. */
    List<StoredEvent> events(EventFilter filter);

    Optional<StoredEvent> event(String id);

    /**
     * Calls the listener for each event that is stored or counted from now on, in order, after its commit. Listeners
     * run on the store's thread and must neither block nor throw.
     */
    Subscription listen(Consumer<EventChange> listener);

    /** A listener's registration, which ends when closed. */
    interface Subscription extends AutoCloseable {
        @Override
        void close();
    }
}
