package dev.gpuwarden.daemon.vram.audit;

import dev.gpuwarden.core.model.Reading;

/**
 * The measured use of a workload on one GPU, while it held memory.
 *
 * @param budget the last one seen
 * @param samples number of readings in which it held memory; the amounts are 0 where there is none
 */
public record WorkloadUse(
        String gpu,
        String workload,
        Reading<Long> budget,
        long samples,
        long p50Bytes,
        long p95Bytes,
        long largestBytes) {

    private static final long STEP = 64L << 20;
    private static final double HEADROOM = 1.1;

    /** Returns the budget that the measured use suggests: p95 and a tenth, in steps of 64 MiB. */
    public long proposedBytes() {
        return -Math.floorDiv(-(long) (p95Bytes * HEADROOM), STEP) * STEP;
    }
}
