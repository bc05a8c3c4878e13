package dev.gpuwarden.checks;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;

/**
 * The time for which a check saw a state, in its notes. The time between two runs counts for two intervals at most. So neither a
 * pause of the daemon nor a clock that was set makes a state last.
 */
public final class LastingState {

    private LastingState() {}

    /**
     * Records that the state is there now.
     *
     * @param every interval of the check
     * @return the time for which it was seen; zero in the first run
     */
    public static Duration seen(Map<String, Long> notes, String state, Instant now, Duration every) {
        Long last = notes.put(at(state), now.toEpochMilli());
        long step = last == null ? 0 : now.toEpochMilli() - last;
        long counted = Math.max(0, Math.min(step, 2 * every.toMillis()));
        return Duration.ofMillis(notes.merge(lasted(state), counted, Long::sum));
    }

    /** Returns whether the last run saw the state. */
    public static boolean isSeen(Map<String, Long> notes, String state) {
        return notes.containsKey(at(state));
    }

    /** Records that the state is over. */
    public static void over(Map<String, Long> notes, String state) {
        notes.remove(at(state));
        notes.remove(lasted(state));
    }

    private static String at(String state) {
        return "at " + state;
    }

    private static String lasted(String state) {
        return "lasted " + state;
    }
}
