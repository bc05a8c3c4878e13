package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.EventWriter;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The receiver of batches of events.
 *
 * @param faults the current faults, from memory
 * @param quiet the time without repetition after which a fault that asks for no action is cleared
 * @param verifies keeps parts with a fatal fault faulty after a boot, until they are verified
 * @param error receives the description of a failure to store
 * @param ended decides which faults the end lines of the log end
 */
record BatchTarget(
        EventWriter intake,
        Supplier<List<Fault>> faults,
        Duration quiet,
        boolean verifies,
        Clock clock,
        Consumer<String> error,
        EndedFaults ended) {

    /** The shortest pause before a fault that cannot be cleared yet is examined again. */
    private static final Duration CLEAR_PAUSE = Duration.ofSeconds(10);

    /**
     * Returns what to store of a batch: its events, as the current faults require, and those that follow from them.
     *
     * @param clear whether quiet faults are due for clearing
     */
    List<HealthEvent> eventsOf(List<HealthEvent> batch, boolean clear) {
        List<Fault> current = faults.get();
        List<HealthEvent> all =
                new ArrayList<>(FaultPolicy.keepFatal(ended.narrow(batch, current, clock.instant()), current));
        if (verifies) {
            all = FaultPolicy.verifyRepairs(all, current, clock.instant());
        }
        if (clear) {
            all.addAll(FaultPolicy.clearQuiet(current, batch, quiet, clock.instant()));
        }
        return all;
    }

    /** Returns the time until the next fault may be cleared; empty where none can be. */
    Optional<Duration> untilClear() {
        return FaultPolicy.nextClear(faults.get(), quiet).map(next -> {
            Duration least = quiet.compareTo(CLEAR_PAUSE) < 0 ? quiet : CLEAR_PAUSE;
            Duration until = Duration.between(clock.instant(), next);
            return until.compareTo(least) < 0 ? least : until;
        });
    }
}
