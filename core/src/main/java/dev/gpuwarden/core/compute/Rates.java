package dev.gpuwarden.core.compute;

import java.util.OptionalDouble;

/** The rates that a GPU's clock can have measured. Pure. */
public final class Rates {

    /** Ten times the memory bandwidth and the FP16 rate of a B200 (8 TB/s, 2.25 PFLOP/s; NVIDIA's data sheet of 2024). */
    private static final double MOST_BYTES_PER_SECOND = 80e12;

    private static final double MOST_OPERATIONS_PER_SECOND = 22.5e15;

    /** Caches add to the rate of memory: the largest has 126 MB (B200), so smaller vectors prove nothing about a limit. */
    private static final long CACHED_BYTES = 1L << 30;

    /** The part of a rate that caches and clocks above the nominal one can add. */
    private static final double TOLERANCE = 1.15;

    private Rates() {}

    /** Returns whether it is a number above zero and below any GPU's. */
    public static boolean isPlausibleProduct(double operationsPerSecond) {
        return operationsPerSecond > 0 && operationsPerSecond < MOST_OPERATIONS_PER_SECOND;
    }

    /**
     * Returns whether it is a number above zero, and not above the limit of this board where vectors are too large for caches.
     *
     * @param limit the bandwidth of memory in bytes a second; empty if it is not known
     * @param bytes of memory that one round reads and writes
     */
    public static boolean isPlausibleMemory(double bytesPerSecond, OptionalDouble limit, long bytes) {
        double most = limit.isPresent() && bytes >= CACHED_BYTES
                ? Math.min(MOST_BYTES_PER_SECOND, limit.getAsDouble() * TOLERANCE)
                : MOST_BYTES_PER_SECOND;
        return bytesPerSecond > 0 && bytesPerSecond < most;
    }

    /**
     * Returns the bandwidth of memory in bytes a second, with two transfers a clock; empty if the driver reports 0 for one of them.
     *
     * @param clockKilohertz the highest clock of the memory
     * @param busBits the width of its bus
     */
    public static OptionalDouble memoryLimit(long clockKilohertz, long busBits) {
        return clockKilohertz > 0 && busBits > 0
                ? OptionalDouble.of(2.0 * clockKilohertz * 1000 * busBits / 8)
                : OptionalDouble.empty();
    }
}
