package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.telemetry.SamplerStats.Work;

/**
 * The times of one GPU's turns: all work immediately at first, then on a time grid that all GPUs share. Fast turns of
 * all GPUs fall together, so that the machine wakes up once and finds its caches warm; that costs half of what
 * spreading them does. Slower turns and process lists, which hold the driver's locks for longer, are spread over their
 * interval, GPU by GPU, and fall on fast turns. Times are absolute, so lateness does not add up; a missed turn is
 * skipped and counted. Owned by one thread; allocates nothing after start.
 */
final class Schedule {

    private static final Work[] WORK = Work.values();

    private final long[] interval = new long[WORK.length];
    private final long[] origin = new long[WORK.length];
    private final long[] due = new long[WORK.length];
    private final boolean[] begun = new boolean[WORK.length];
    /** True if memory is also read between fast turns. */
    private final boolean memory;

    /**
     * @param epochNanos start of the time grid, the same for all GPUs
     * @param gpu position among {@code gpus}
     */
    Schedule(SamplingSettings settings, long epochNanos, long startNanos, int gpu, int gpus) {
        long fast = settings.intervalNanos(Work.FAST);
        memory = settings.watchesMemory();
        for (Work work : WORK) {
            int i = work.ordinal();
            interval[i] = settings.intervalNanos(work);
            long share = work == Work.FAST || work == Work.MEMORY ? 0 : interval[i] / gpus * (gpu % gpus);
            origin[i] = epochNanos + share / fast * fast;
            due[i] = startNanos;
        }
    }

    boolean due(Work work, long nowNanos) {
        return (work != Work.MEMORY || memory) && nowNanos - due[work.ordinal()] >= 0;
    }

    /** Moves the next reading of memory to this time, if it is later. */
    void hastenMemory(long atNanos) {
        int i = Work.MEMORY.ordinal();
        due[i] = due[i] - atNanos > 0 ? atNanos : due[i];
    }

    /**
     * Plans the next turn after one that ended now.
     *
     * @return number of turns that were skipped
     */
    long done(Work work, long nowNanos) {
        int i = work.ordinal();
        long next = Math.floorDiv(nowNanos - origin[i], interval[i]) + 1;
        long last = Math.floorDiv(due[i] - origin[i], interval[i]);
        due[i] = origin[i] + next * interval[i];
        boolean first = !begun[i];
        begun[i] = true;
        return first ? 0 : Math.max(0, next - last - 1);
    }

    /** Returns the time of the earliest turn. */
    long next() {
        long earliest = due[0];
        for (int i = 1; i < due.length; i++) {
            if (due[i] - earliest < 0 && (memory || i != Work.MEMORY.ordinal())) {
                earliest = due[i];
            }
        }
        return earliest;
    }
}
