package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.watchdog.pressure.PressureState;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Everything that a {@link GpuWatchdog} remembers. With the same rules and the same observation it gives the same
 * decision.
 *
 * @param newest the newest observation, good or bad
 * @param lastGoodNanos time of the last one that was a basis for a decision
 * @param listed the last list of tenants that was compared with the memory
 * @param overSince the first decision of this deficit in which a tenant was over its budget, by its identity
 * @param endings the ends of tenants that still hold memory, by their identity
 * @param othersEndSinceNanos since when tenants that were not chosen have been ending, one or another; empty where none is
 * @param peaks the largest use by workload, the one that was seen least recently first
 * @param history of the node
 */
public record WatchdogState(
        Optional<Newest> newest,
        OptionalLong lastGoodNanos,
        Optional<Listed> listed,
        PressureState pressure,
        Map<String, Long> overSince,
        Map<String, Ending> endings,
        OptionalLong othersEndSinceNanos,
        Map<String, Long> peaks,
        RecycleHistory.State history) {

    /** Nothing was observed. */
    public static final WatchdogState NONE = new WatchdogState(
            Optional.empty(),
            OptionalLong.empty(),
            Optional.empty(),
            PressureState.NONE,
            Map.of(),
            Map.of(),
            OptionalLong.empty(),
            Map.of(),
            RecycleHistory.State.NONE);

    /** The number and the time of an observation. */
    public record Newest(long sequence, long atNanos) {}

    /**
     * A list of tenants.
     *
     * @param usedBytes the most memory that readings at its time showed in use
     */
    public record Listed(long atNanos, long usedBytes) {}

    /**
     * The end of a tenant.
     *
     * @param chosen whether a decision ends it; otherwise it ends by itself or by others
     */
    public record Ending(long sinceNanos, boolean chosen) {}

    public WatchdogState {
        overSince = Map.copyOf(overSince);
        endings = Map.copyOf(endings);
        peaks = Collections.unmodifiableMap(new LinkedHashMap<>(peaks));
    }

    /**
     * Returns what outlives the program: recycles, ending tenants and the largest use. Numbers of observations begin
     * again with a program, and pressure must show itself again, so that a restart never leads to a recycle.
     *
     * @param shiftNanos the difference of the new clock to the old one. A clock that starts again with a boot does not
     *     show how long the node was off: take none of that time for passed, so that no cooldown becomes shorter
     */
    public WatchdogState afterRestart(long shiftNanos) {
        Map<String, Ending> shifted = new LinkedHashMap<>();
        endings.forEach((tenant, end) -> shifted.put(tenant, new Ending(end.sinceNanos() + shiftNanos, end.chosen())));
        return new WatchdogState(
                Optional.empty(),
                OptionalLong.empty(),
                Optional.empty(),
                PressureState.NONE,
                Map.of(),
                shifted,
                othersEndSinceNanos.isPresent()
                        ? OptionalLong.of(othersEndSinceNanos.getAsLong() + shiftNanos)
                        : OptionalLong.empty(),
                peaks,
                history.shifted(shiftNanos));
    }
}
