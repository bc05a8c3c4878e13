package dev.gpuwarden.benchmarks;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** Counts of the attackers' actions and of their results, by readable names. Thread-safe. */
final class AttackTally {

    private final Map<String, LongAdder> counts = new ConcurrentHashMap<>();

    void count(String what) {
        add(what, 1);
    }

    void add(String what, long number) {
        counts.computeIfAbsent(what, any -> new LongAdder()).add(number);
    }

    /** Repeats an attack with pauses of this length. Counts its failures and continues. */
    void repeat(ScheduledExecutorService timer, long millis, Runnable attack) {
        var unused = timer.scheduleWithFixedDelay(
                () -> {
                    try {
                        attack.run();
                    } catch (RuntimeException e) {
                        count("attacks that failed by themselves: " + e);
                    }
                },
                0,
                millis,
                TimeUnit.MILLISECONDS);
    }

    Map<String, Long> counts() {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((what, count) -> sums.put(what, count.sum()));
        return sums;
    }
}
