package dev.gpuwarden.watchdog.observation;

import dev.gpuwarden.core.model.Reading;
import java.util.List;

/**
 * One GPU at one time. Its memory is read often, its tenants rarely, because listing processes takes a lock of the driver.
 *
 * @param gpu UUID
 * @param atNanos time of the memory reading, by a clock that never goes back
 * @param sequence number of the memory reading; it rises with each new one
 * @param tenants absent where processes could not be listed or not all of them have a known owner
 * @param tenantsAtNanos time of the process list, by the same clock
 * @param reservations those that wait for memory of this GPU, and those that have some
 */
public record GpuObservation(
        String gpu,
        long atNanos,
        long sequence,
        Reading<GpuBytes> memory,
        Reading<List<Tenant>> tenants,
        long tenantsAtNanos,
        List<Reservation> reservations) {

    public GpuObservation {
        reservations = List.copyOf(reservations);
    }

    /** Makes an observation without reservations. */
    public GpuObservation(
            String gpu,
            long atNanos,
            long sequence,
            Reading<GpuBytes> memory,
            Reading<List<Tenant>> tenants,
            long tenantsAtNanos) {
        this(gpu, atNanos, sequence, memory, tenants, tenantsAtNanos, List.of());
    }

    /** Returns the same observation with these reservations. */
    public GpuObservation with(List<Reservation> all) {
        return new GpuObservation(gpu, atNanos, sequence, memory, tenants, tenantsAtNanos, all);
    }
}
