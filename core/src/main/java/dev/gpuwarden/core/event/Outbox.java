package dev.gpuwarden.core.event;

import java.util.List;

/** The events that each receiver has not acknowledged yet. It survives restarts. Thread-safe. */
public interface Outbox {

    /**
     * Registers a receiver: from now on events are kept for it until it acknowledges them, within the store's bounds.
     * A new receiver starts with the next event; a registered one continues after its last acknowledgement.
     */
    void register(String receiver);

    /**
     * Returns the next events for a receiver, oldest first, at most {@code max}; empty if it has acknowledged all.
     * Reads the store.
     */
    List<StoredEvent> next(String receiver, int max);

    /** Acknowledges all events up to this sequence number. Blocks until that is committed. */
    void acknowledge(String receiver, long sequence);

    /**
     * Returns the number of events that wait for the receiver, and the number that was dropped for lack of room
     * before the receiver took them.
     */
    Lag lag(String receiver);

    record Lag(long waiting, long dropped) {}
}
