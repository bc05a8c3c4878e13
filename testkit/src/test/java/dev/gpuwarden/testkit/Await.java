package dev.gpuwarden.testkit;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * Waits in tests for the work of another thread or program. Conditions are evaluated in the calling thread, which blocks: after 1 ms,
 * then at growing intervals of up to 20 ms, so that short waits stay short. The limit of three minutes allows for a busy machine.
 */
public final class Await {

    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final long FIRST_PAUSE_NANOS = 1_000_000;
    private static final long LONGEST_PAUSE_NANOS = 20_000_000;

    private Await() {}

    /** Blocks until the condition holds; throws an {@link AssertionError} after the limit, or when the thread is interrupted. */
    public static void until(BooleanSupplier condition) {
        until(condition, "the condition");
    }

    /** @param expected the condition in words, for the {@link AssertionError} */
    public static void until(BooleanSupplier condition, String expected) {
        until(condition, () -> expected);
    }

    /** @param expected called once, when the limit is over: may add what was seen instead */
    public static void until(BooleanSupplier condition, Supplier<String> expected) {
        until(condition, LIMIT, expected);
    }

    /** @param limit for a condition whose failure shows sooner */
    public static void until(BooleanSupplier condition, Duration limit, Supplier<String> expected) {
        long start = System.nanoTime();
        long pause = FIRST_PAUSE_NANOS;
        while (!condition.getAsBoolean()) {
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("interrupted while waiting for: " + expected.get());
            }
            if (System.nanoTime() - start > limit.toNanos()) {
                throw new AssertionError("expected within " + limit.toMillis() / 1e3 + " s: " + expected.get());
            }
            LockSupport.parkNanos(pause);
            pause = Math.min(pause * 2, LONGEST_PAUSE_NANOS);
        }
    }
}
