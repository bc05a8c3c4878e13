package dev.gpuwarden.aggregator.ingest;

import java.time.Duration;

/**
 * How often the API server is asked to keep what nodes told.
 *
 * @param each least time from the begin of one write of a node to the begin of the next
 * @param firstRetry what is waited after a failure; twice as long after each further one
 * @param lastRetry the longest wait
 */
record WritePace(Duration each, Duration firstRetry, Duration lastRetry) {

    /** A node that flaps costs the API server four writes a second at most. */
    static final WritePace DEFAULT =
            new WritePace(Duration.ofMillis(250), Duration.ofMillis(500), Duration.ofSeconds(30));
}
