package dev.gpuwarden.benchmarks;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
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

    /** Returns a task that counts the attack's failures and continues. */
    Runnable counted(Runnable attack) {
        return () -> {
            try {
                attack.run();
            } catch (RuntimeException e) {
                count("attacks that failed by themselves: " + e);
            }
        };
    }

    Map<String, Long> counts() {
        Map<String, Long> sums = new TreeMap<>();
        counts.forEach((what, count) -> sums.put(what, count.sum()));
        return sums;
    }
}
