package dev.gpuwarden.nccl.plan;

/** The largest message that fits into the memory of a GPU, as nccl-tests counts it. */
public final class MemoryLimit {

    private static final long GIB = 1L << 30;
    /** A reserve of 1 GiB for each 16 GiB, and of 4 GiB at most. */
    private static final long GIB_PER_RESERVE = 16;

    private static final long LARGEST_RESERVE = 4 * GIB;

    private MemoryLimit() {}

    /** @param memoryBytes memory of the smallest GPU */
    public static long of(long memoryBytes, boolean checks) {
        long blocks = (memoryBytes + GIB_PER_RESERVE * GIB - 1) / (GIB_PER_RESERVE * GIB);
        long reserve = Math.min(blocks * GIB, LARGEST_RESERVE);
        return Math.max(0, (memoryBytes - reserve - GIB) / (checks ? 3 : 2));
    }
}
