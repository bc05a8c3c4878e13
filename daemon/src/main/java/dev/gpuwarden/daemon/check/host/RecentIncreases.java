package dev.gpuwarden.daemon.check.host;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * When a counter rose of late, kept in a check's notes. Unlike an increase over a window it knows a rise at the second look, not
 * when the window is covered; it remembers no more rises than asked for.
 */
final class RecentIncreases {

    private RecentIncreases() {}

    /**
     * Notes what the counter is now.
     *
     * @param most so many rises are remembered; a rise by several counts as several
     * @return how many of the remembered rises were seen during the window
     */
    static int note(Map<String, Long> notes, String counter, long value, Instant now, Duration window, int most) {
        Long before = notes.put(counter, value);
        // A counter that fell was reset, as when its driver was loaded again.
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
