package dev.gpuwarden.nat.nccl;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * The pauses of a wait that polls. At first it only yields the processor, since collectives take microseconds. A longer wait pauses for a
 * thousandth of its own age, so that a measured time is wrong by as much at most.
 */
final class Pause {

    private static final long YIELDING_NANOS = 2_000_000;
    private static final long LONGEST_NANOS = 1_000_000;

    private final long beganNanos = System.nanoTime();
    private final long limitNanos;

    private Pause(long limitNanos) {
        this.limitNanos = limitNanos;
    }

    /** @param limit zero for none */
    static Pause until(Duration limit) {
        return new Pause(limit.isZero() ? Long.MAX_VALUE : limit.toNanos());
    }

    boolean isOver() {
        return System.nanoTime() - beganNanos > limitNanos;
    }

    /** A yield and no spin: on a machine with fewer processors than ranks, other ranks and threads of the library need the processor. */
    @SuppressWarnings("ThreadPriorityCheck")
    void pause() {
        long age = System.nanoTime() - beganNanos;
        if (age < YIELDING_NANOS) {
            Thread.yield();
        } else {
            LockSupport.parkNanos(Math.min(LONGEST_NANOS, age / 1000));
        }
    }
}
