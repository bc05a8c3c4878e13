package dev.gpuwarden.watchdog.pressure;

import dev.gpuwarden.watchdog.observation.ProcessKey;
import java.util.List;

/**
 * Everything that a {@link PressureMonitor} remembers.
 *
 * @param withheld low while a reservation within a budget has no room
 * @param tenantsNanos time of the last list of tenants; {@link Long#MIN_VALUE} before the first one
 * @param processes those of the last list
 * @param attempts failed attempts to allocate, the workload that failed least recently first
 */
public record PressureState(
        Hysteresis floor,
        Hysteresis deficit,
        Hysteresis withheld,
        long tenantsNanos,
        List<Seen> processes,
        List<Attempts> attempts) {

    /** Nothing was observed. */
    public static final PressureState NONE =
            new PressureState(Hysteresis.OFF, Hysteresis.OFF, Hysteresis.OFF, Long.MIN_VALUE, List.of(), List.of());

    public PressureState {
        processes = List.copyOf(processes);
        attempts = List.copyOf(attempts);
    }

    /**
     * A process.
     *
     * @param firstNanos time of the first list that has it
     * @param starved whether its tenant lacked memory when the process was seen last
     */
    public record Seen(ProcessKey process, String workload, long firstNanos, boolean starved) {}

    /** The times of a workload's failed attempts, the oldest first. */
    public record Attempts(String workload, List<Long> nanos) {
        public Attempts {
            nanos = List.copyOf(nanos);
        }
    }
}
