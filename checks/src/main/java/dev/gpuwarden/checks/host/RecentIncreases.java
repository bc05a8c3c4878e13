package dev.gpuwarden.checks.host;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * The times of a counter's recent increases, kept in a check's notes. It sees an increase at the second run, not when a
 * window is covered. It keeps no more times than requested.
 */
final class RecentIncreases {

    private RecentIncreases() {}

    /**
     * Records the counter's value.
     *
     * @param most bound on the remembered increases; an increase by several counts as several
     * @return number of remembered increases within the window
     */
    static int note(Map<String, Long> notes, String counter, long value, Instant now, Duration window, int most) {
        Long before = notes.put(counter, value);
        // A counter that fell was reset, for example when its driver was loaded again.
        long increase = before == null ? 0 : Math.max(0, value - before);
        for (int i = 0; i < Math.min(increase, most); i++) {
            push(notes, counter, now.toEpochMilli(), most);
        }
        long from = now.minus(window).toEpochMilli();
        int recent = 0;
        for (int i = 0; i < most; i++) {
            Long at = notes.get(counter + "#" + i);
            recent += at != null && at > from ? 1 : 0;
        }
        return recent;
    }

    private static void push(Map<String, Long> notes, String counter, long at, int most) {
        for (int i = most - 1; i > 0; i--) {
            Long newer = notes.get(counter + "#" + (i - 1));
            if (newer != null) {
                notes.put(counter + "#" + i, newer);
            }
        }
        notes.put(counter + "#0", at);
    }
}
