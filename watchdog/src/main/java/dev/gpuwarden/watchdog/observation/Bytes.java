package dev.gpuwarden.watchdog.observation;

import java.util.stream.LongStream;

/** Sums of amounts that strangers chose, such as budgets: a sum beyond the range of a long is its end. */
public final class Bytes {

    private Bytes() {}

    /** Returns the sum of two amounts of at least 0. */
    public static long plus(long one, long other) {
        long sum = one + other;
        return sum < 0 ? Long.MAX_VALUE : sum;
    }

    /** Returns the sum of amounts of at least 0. */
    public static long sum(LongStream amounts) {
        return amounts.reduce(0, Bytes::plus);
    }
}
