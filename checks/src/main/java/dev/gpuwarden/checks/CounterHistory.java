package dev.gpuwarden.checks;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * The values of one check's counters during the last minutes. The number of counters and of values for each is bounded,
 * whatever names the check requests.
 */
final class CounterHistory {

    /** A node with 16 adapters of 2 ports and 30 counters each has 960. */
    static final int MOST_COUNTERS = 4096;

    /** Values kept for each counter, which covers its window to within a sixteenth. */
    private static final int KEPT = 18;

    private record Key(String counter, Duration window) {}

    private final Map<Key, Course> courses = new HashMap<>();

    /** Records the value and returns its increase as defined by {@code CheckContext.increase}. */
    synchronized Reading<Long> increase(String counter, long value, Duration window, Instant now) {
        if (window.isNegative() || window.isZero()) {
            throw new IllegalArgumentException("expected a positive window, but was " + window);
        }
        Key key = new Key(counter, window);
        Course course = courses.get(key);
        if (course == null) {
            if (courses.size() >= MOST_COUNTERS) {
                courses.values().removeIf(old -> old.overdue(now));
            }
            if (courses.size() >= MOST_COUNTERS) {
                return Reading.absent(Absence.PENDING, 0, "more than " + MOST_COUNTERS + " counters in one check");
            }
            course = new Course(window.toMillis());
            courses.put(key, course);
        }
        return course.increase(value, now.toEpochMilli());
    }

    /** The values of one counter, oldest first. */
    private static final class Course {
        private final long windowMillis;
        private final long[] at = new long[KEPT];
        private final long[] values = new long[KEPT];
        private int size;
        private long newest;
        private long newestAt;

        Course(long windowMillis) {
            this.windowMillis = windowMillis;
        }

        /** Returns whether the counter was not requested for two windows, because its part of the node is gone. */
        boolean overdue(Instant now) {
            return now.toEpochMilli() - newestAt > 2 * windowMillis;
        }

        Reading<Long> increase(long value, long now) {
            boolean first = size == 0;
            boolean back = !first && value < newest;
            // A clock that was set, forward or back, invalidates the kept times.
            boolean otherTime = !first && (now < newestAt || now - newestAt > 2 * windowMillis);
            newest = value;
            newestAt = now;
            if (back || otherTime) {
                size = 0;
            }
            keep(value, now);
            if (back) {
                return Reading.absent(Absence.IMPLAUSIBLE, 0, "the counter went backwards");
            }
            return now - at[0] >= windowMillis
                    ? Reading.of(value - values[0])
                    : Reading.absent(Absence.PENDING, 0, "a rate needs more than one run");
        }

        private void keep(long value, long now) {
            // The first kept value is the newest that covers the window.
            int drop = 0;
            while (drop + 1 < size && now - at[drop + 1] >= windowMillis) {
                drop++;
            }
            if (drop > 0) {
                System.arraycopy(at, drop, at, 0, size - drop);
                System.arraycopy(values, drop, values, 0, size - drop);
                size -= drop;
            }
            if (size == 0 || size < KEPT && now - at[size - 1] >= windowMillis / (KEPT - 2)) {
                at[size] = now;
                values[size] = value;
                size++;
            }
        }
    }
}
