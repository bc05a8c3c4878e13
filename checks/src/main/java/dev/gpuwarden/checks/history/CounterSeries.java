package dev.gpuwarden.checks.history;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.util.Arrays;

/**
 * The increases of counters in each step of the last minutes. An increase while a counter could not be read counts in
 * the step in which it could be read again. Not thread-safe; adding allocates nothing.
 */
final class CounterSeries {

    private static final int NUMBER = 0;
    private static final int FIRST = 1;
    private static final int BACKWARDS = -1;
    private static final int NEVER = Integer.MAX_VALUE;

    private final RingBuffer ring;
    private final long[] last;
    /** The step in which the counter was first read. */
    private final int[] since;

    private final int[] cause;
    private final int[] code;

    CounterSeries(int counters) {
        // The current step and the steps before it.
        ring = new RingBuffer(TimeStep.MOST + 1, FIRST + counters);
        last = new long[counters];
        since = new int[counters];
        cause = new int[counters];
        code = new int[counters];
        Arrays.fill(since, NEVER);
        Arrays.fill(cause, Absence.PENDING.ordinal());
    }

    /** Starts a step, to which the following values belong. */
    void enter(int step) {
        if (ring.held() == 0 || step > ring.get(0, NUMBER)) {
            ring.advance();
            ring.put(NUMBER, step);
        }
    }

    void present(int counter, long value) {
        if (since[counter] == NEVER) {
            since[counter] = ring.get(0, NUMBER);
        } else {
            int before = ring.get(0, FIRST + counter);
            long rise = value - last[counter];
            if (rise < 0) {
                ring.put(FIRST + counter, BACKWARDS);
            } else if (before != BACKWARDS) {
                ring.put(FIRST + counter, (int) Math.min(Integer.MAX_VALUE, before + rise));
            }
        }
        last[counter] = value;
        cause[counter] = Absence.PRESENT.ordinal();
        code[counter] = 0;
    }

    void absent(int counter, Absence why, int returned) {
        cause[counter] = why.ordinal();
        code[counter] = returned;
    }

    /** Returns the increase in the step {@code now} and those before it, {@code steps} in all. */
    Reading<Long> increase(int counter, int now, int steps) {
        Absence why = Absence.of(cause[counter]);
        if (why != Absence.PRESENT) {
            return Reading.absent(why, code[counter], "");
        }
        if (now - ring.get(0, NUMBER) >= steps) {
            return Reading.absent(Absence.STALE, 0, "nothing was read during the window");
        }
        if (since[counter] > now - steps) {
            return Reading.absent(Absence.PENDING, 0, "the window is not covered yet");
        }
        long sum = 0;
        for (int age = 0; age < ring.held() && now - ring.get(age, NUMBER) < steps; age++) {
            int rise = ring.get(age, FIRST + counter);
            if (rise == BACKWARDS) {
                return Reading.absent(Absence.IMPLAUSIBLE, 0, "the counter went backwards");
            }
            sum += rise;
        }
        return Reading.of(sum);
    }
}
