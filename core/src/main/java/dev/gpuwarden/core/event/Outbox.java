package dev.gpuwarden.core.event;

import java.util.List;

/** What each receiver of events has not acknowledged yet. Survives restarts. Thread-safe. */
public interface Outbox {

    /**
     * Makes a receiver known: from now on events are kept for it until it acknowledges them, within the store's bounds.
     * One that is new begins with the next event; one that is known goes on where it was.
     */
    void register(String receiver);

    /** Oldest first, at most {@code max}; empty when it has everything. Reads the store. */
    List<StoredEvent> next(String receiver, int max);

    /** The receiver has everything up to this sequence number. Blocks until that is committed. */
    void acknowledge(String receiver, long sequence);

    /** How many events the receiver lacks, and how many were dropped for want of room before it took them. */
    Lag lag(String receiver);

    record Lag(long waiting, long dropped) {}
}
