package dev.gpuwarden.checks.history;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;

/**
 * The counts of each combination of flags in each step of the last minutes, from which the share of any flags is
 * computed. A step keeps the first {@value #COMBINATIONS} combinations and ignores samples with others; in practice
 * there are none. Not thread-safe; adding allocates nothing.
 */
final class FlagSeries {

    /** The flags that are distinguished. */
    static final long KNOWN = 0xffff;

    static final int COMBINATIONS = 8;

    private static final int NUMBER = 0;
    private static final int FIRST = 1;
    private static final int MOST = 0xffff;

    /** A combination is a cell: its count in the upper half, its flags in the lower. */
    private final RingBuffer ring = new RingBuffer(TimeStep.MOST + 1, FIRST + COMBINATIONS);

    /** The step in which the flags were first read. */
    private int since;

    private Absence cause = Absence.PENDING;
    private int code;

    void present(int step, long flags) {
        if (ring.held() == 0) {
            since = step;
        }
        if (ring.held() == 0 || step > ring.get(0, NUMBER)) {
            ring.advance();
            ring.put(NUMBER, step);
        }
        cause = Absence.PRESENT;
        code = 0;
        int seen = (int) (flags & KNOWN);
        for (int i = FIRST; i < FIRST + COMBINATIONS; i++) {
            int cell = ring.get(0, i);
            int times = cell >>> 16;
            if (times == 0 || (cell & MOST) == seen) {
                ring.put(i, Math.min(MOST, times + 1) << 16 | seen);
                return;
            }
        }
    }

    void absent(Absence why, int returned) {
        cause = why;
        code = returned;
    }

    /** Returns the share of samples in these steps with any of these flags. */
    Reading<Double> share(long flags, int now, int steps) {
        if (cause != Absence.PRESENT) {
            return Reading.absent(cause, code, "");
        }
        if ((flags & ~KNOWN) != 0) {
            return Reading.absent(Absence.NOT_SUPPORTED, 0, "no history is kept of flags above 0xffff");
        }
        if (now - ring.get(0, NUMBER) >= steps) {
            return Reading.absent(Absence.STALE, 0, "nothing was read during the window");
        }
        if (since > now - steps) {
            return Reading.absent(Absence.PENDING, 0, "the window is not covered yet");
        }
        long all = 0;
        long with = 0;
        for (int age = 0; age < ring.held() && now - ring.get(age, NUMBER) < steps; age++) {
            for (int i = FIRST; i < FIRST + COMBINATIONS; i++) {
                int cell = ring.get(age, i);
                int times = cell >>> 16;
                all += times;
                with += (cell & flags) == 0 ? 0 : times;
            }
        }
        return Reading.of((double) with / all);
    }
}
