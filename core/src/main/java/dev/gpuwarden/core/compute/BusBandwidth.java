package dev.gpuwarden.core.compute;

/** The bandwidth of a collective, corrected by the number of ranks so that it is comparable with the rate of the links. Pure. */
public final class BusBandwidth {

    private BusBandwidth() {}

    /**
     * Returns the ratio of the bus bandwidth of an all-reduce to its bytes by time (nccl-tests, PERFORMANCE.md): each rank sends and
     * receives that many times its message. It is 0 for one rank, which has no bus.
     */
    public static double allReduceFactor(int ranks) {
        return 2.0 * (ranks - 1) / ranks;
    }

    /** Returns the bus bandwidth of an all-reduce in gigabytes (1e9) a second. */
    public static double ofAllReduce(long bytes, int ranks, double seconds) {
        return bytes / 1e9 / seconds * allReduceFactor(ranks);
    }
}
