package dev.gpuwarden.checks.host;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.Map;

/**
 * The increase of a counter during a window, as far as it is known.
 *
 * @param atLeast lower bound of the increase
 * @param known whether the lower bound is exact: the window is covered, or the counter is 0
 */
record CounterIncrease(long atLeast, boolean known) {

    /**
     * Returns the increase. Before the window is covered, the count since the first run is a lower bound, which may
     * exceed a limit already.
     */
    static CounterIncrease of(CheckContext context, String counter, long value, Duration window) {
        Reading<Long> rise = context.increase(counter, value, window);
        Map<String, Long> notes = context.notes();
        String first = "first " + counter;
        if (rise instanceof Reading.Present<Long> present) {
            notes.remove(first);
            return new CounterIncrease(present.value(), true);
        }
        // A counter that fell was reset.
        long base = notes.merge(first, value, Math::min);
        return new CounterIncrease(value - base, value == 0);
    }

    double perMinute(Duration window) {
        return (double) atLeast / window.toMinutes();
    }
}
