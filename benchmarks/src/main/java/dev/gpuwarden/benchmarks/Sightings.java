package dev.gpuwarden.benchmarks;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Occurrences here that must be seen elsewhere: their delays, and those that are late or missing. Thread-safe. */
final class Sightings {

    static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long LONGEST_MICROS = TimeUnit.HOURS.toMicros(1);
    private static final int SHOWN = 12;

    private final String what;
    private final long began = System.nanoTime();
    private final Map<Long, Long> open = new ConcurrentHashMap<>();
    private final Histogram micros = new ConcurrentHistogram(LONGEST_MICROS, 3);
    private final LongAdder happened = new LongAdder();
    private final LongAdder late = new LongAdder();
    private final List<String> shown = new CopyOnWriteArrayList<>();

    /** @param what readable name of the measured time */
    Sightings(String what) {
        this.what = what;
    }

    /** @param number unique number of the occurrence */
    void happened(long number) {
        happened.increment();
        open.put(number, System.nanoTime());
    }

    /** Records that an occurrence was seen. Only the first call counts. */
    void seen(long number) {
        Long at = open.remove(number);
        if (at == null) {
            return;
        }
        long nanos = System.nanoTime() - at;
        micros.recordValue(Math.min(LONGEST_MICROS, nanos / 1000));
        if (nanos > LATE_NANOS) {
            late.increment();
            if (shown.size() < SHOWN) {
                shown.add(String.format(Locale.ROOT, "%.1f s at %.0f s", nanos / 1e9, (at - began) / 1e9));
            }
        }
    }

    boolean isOpen(long number) {
        return open.containsKey(number);
    }

    /** Returns the number of occurrences that have not been seen yet. */
    int missing() {
        return open.size();
    }

    /** Returns the number of occurrences that were seen after more than {@link #LATE_NANOS}. */
    long late() {
        return late.sum();
    }

    String what() {
        return what;
    }

    String line() {
        String times = micros.getTotalCount() == 0
                ? "none seen"
                : Figures.millis("p50 %.1f ms, p99 %.1f ms, most %.1f ms", micros, 50, 99, 100);
        return String.format(
                Locale.ROOT,
                "%-62s %6d, not seen %d, over 2 s %d; %s%s%s",
                what,
                happened.sum(),
                missing(),
                late(),
                times,
                shown.isEmpty() ? "" : "\n    late: " + String.join(", ", shown),
                open.isEmpty() ? "" : "\n    not seen: " + missed());
    }

    private List<String> missed() {
        return new TreeMap<>(open)
                .entrySet().stream()
                        .limit(SHOWN)
                        .map(entry -> String.format(
                                Locale.ROOT, "%d of %.0f s", entry.getKey(), (entry.getValue() - began) / 1e9))
                        .toList();
    }
}
