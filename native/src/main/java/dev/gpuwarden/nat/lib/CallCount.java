package dev.gpuwarden.nat.lib;

import java.util.concurrent.atomic.AtomicInteger;

/** The calls under way in a library, so that its last call decides when it can be unloaded. Thread-safe; neither blocks nor allocates. */
final class CallCount {

    /** Added to the number of calls once no other may begin. */
    private static final int ENDED = Integer.MIN_VALUE;

    private final AtomicInteger calls = new AtomicInteger();

    /** Begins a call. Returns false, and begins none, after {@link #end}. */
    boolean enter() {
        int now;
        do {
            now = calls.get();
            if (now < 0) {
                return false;
            }
        } while (!calls.compareAndSet(now, now + 1));
        return true;
    }

    /** Ends a call. Returns true for the last call after {@link #end}. */
    boolean leave() {
        return calls.decrementAndGet() == ENDED;
    }

    /** Lets no other call begin. Returns true if none is under way; false also for a second end. */
    boolean end() {
        return calls.getAndUpdate(now -> now < 0 ? now : now + ENDED) == 0;
    }
}
