package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.part.Timings;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;

/** The cost and the speed of the object monitor. Thread-safe. */
final class MonitorMetrics {

    /** The objects that the API server sent, with repetitions. */
    final LongAdder received = new LongAdder();

    /** The NodeHealths that were written. */
    final LongAdder writes = new LongAdder();

    /** The durations for one policy and one object. An evaluation that foresees changes runs several times. */
    final Timings evaluations = new Timings(Duration.ofMinutes(5));

    /** The times from the arrival of a change until the fault is stored. */
    final Timings changeToEvent = new Timings(Duration.ofMinutes(5));
}
