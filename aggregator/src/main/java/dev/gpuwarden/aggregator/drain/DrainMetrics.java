package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.part.Counts;
import dev.gpuwarden.aggregator.part.Timings;
import java.time.Duration;

/** Counters of drains and their pods. Thread-safe. */
final class DrainMetrics {

    /** The requests to end a pod, by result. */
    final Counts<String> pods = new Counts<>();

    /** The decisions about drains, by kind. */
    final Counts<String> drains = new Counts<>();

    /** The times from the end of a node's last pod to the write that finishes the drain. */
    final Timings finishes = new Timings(Duration.ofMinutes(5));
}
