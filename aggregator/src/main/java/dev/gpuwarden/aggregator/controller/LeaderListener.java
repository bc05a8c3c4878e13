package dev.gpuwarden.aggregator.controller;

/** A listener for the start and the end of this replica's leadership. Called in a thread that must not block. */
public interface LeaderListener {

    /** This replica leads, and all of its informers have synced. */
    void begin();

    /** This replica does not lead any more, or stops. */
    default void end() {}
}
