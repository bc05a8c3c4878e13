package dev.gpuwarden.daemon.check.host;

import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.Map;

/**
 * By how much a counter rose during a window, as far as that is known.
 *
 * @param atLeast it rose by no less
 * @param known and by no more: the window is covered, or the counter never counted anything
 */
record CounterIncrease(long atLeast, boolean known) {

    /** Before the window is covered, what was counted since the first look may be too much already. */
    static CounterIncrease of(CheckContext context, String counter, long value, Duration window) {
        Reading<Long> rise = context.increase(counter, value, window);
        Map<String, Long> notes = context.notes();
        String first = "first " + counter;
        if (rise instanceof Reading.Present<Long> present) {
            notes.remove(first);
            return new CounterIncrease(present.value(), true);
        }
        // A counter that fell began anew.
        long base = notes.merge(first, value, Math::min);
        return new CounterIncrease(value - base, value == 0);
    }

    double perMinute(Duration window) {
        return (double) atLeast / window.toMinutes();
    }
}
