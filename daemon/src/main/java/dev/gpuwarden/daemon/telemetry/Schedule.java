package dev.gpuwarden.daemon.telemetry;

import dev.gpuwarden.daemon.telemetry.SamplerStats.Work;

/**
 * When one GPU's turns are due. Times are absolute, so lateness does not add up; a turn that was missed is left out and
 * counted. Everything is due at once at first, then each GPU keeps its own phase: the driver's locks are shared, and process
 * lists of all GPUs at the same moment would queue behind each other. Owned by one thread; allocates nothing after start.
 */
final class Schedule {

    private static final Work[] WORK = Work.values();

    private final long[] interval = new long[WORK.length];
    private final long[] due = new long[WORK.length];
    private final long[] phase = new long[WORK.length];

    /** @param gpu position among {@code gpus}, which spreads them over each interval */
    Schedule(SamplingSettings settings, long startNanos, int gpu, int gpus) {
        for (Work work : WORK) {
            int i = work.ordinal();
            interval[i] = settings.intervalNanos(work);
            due[i] = startNanos;
            phase[i] = interval[i] * (gpu % gpus + 1) / gpus;
        }
    }

    boolean due(Work work, long nowNanos) {
        return nowNanos - due[work.ordinal()] >= 0;
    }

    /**
     * Plans the next turn after one that ended now.
     *
     * @return how many turns had to be left out
     */
    long done(Work work, long nowNanos) {
        int i = work.ordinal();
        long next = due[i] + (phase[i] != 0 ? phase[i] : interval[i]);
        boolean first = phase[i] != 0;
        phase[i] = 0;
        long missed = nowNanos - next >= 0 ? (nowNanos - next) / interval[i] + 1 : 0;
        due[i] = next + missed * interval[i];
        return first ? 0 : missed;
    }

    /** Puts the next turn off, for a GPU that does not answer anyway. */
    void postpone(Work work, long untilNanos) {
        due[work.ordinal()] = untilNanos;
    }

    /** The earliest of all turns. */
    long next() {
        long earliest = due[0];
        for (int i = 1; i < due.length; i++) {
            if (due[i] - earliest < 0) {
                earliest = due[i];
            }
        }
        return earliest;
    }
}
