package dev.gpuwarden.daemon.telemetry;

import dev.gpuwarden.core.limit.Backoff;
import java.time.Duration;

/**
 * When the library is initialised again, the only way to see GPUs that came back. Every GPU's readings stop meanwhile, so: not
 * at once, ever more seldom while it does not help, and never while a call hangs, which it would wait for.
 */
final class Recovery {

    private final Backoff backoff;
    private boolean waiting;
    private long dueNanos;
    private int tries;

    Recovery(long firstNanos, long longestNanos) {
        this.backoff =
                Backoff.exact(Duration.ofNanos(firstNanos), Duration.ofNanos(Math.max(firstNanos, longestNanos)));
    }

    /**
     * @param wanted a GPU is lost, gone, or on the PCI bus and not listed
     * @param changed the PCI bus shows other GPUs than before: reason to begin anew with short waits
     * @param blocked a call hangs
     * @return true when the library should be initialised again now
     */
    boolean due(long nowNanos, boolean wanted, boolean changed, boolean blocked) {
        if (!wanted) {
            waiting = false;
            return false;
        }
        if (!waiting || changed) {
            waiting = true;
            tries = 1;
            dueNanos = nowNanos + backoff.pause(tries).toNanos();
        }
        if (nowNanos - dueNanos < 0 || blocked) {
            return false;
        }
        tries++;
        dueNanos = nowNanos + backoff.pause(tries).toNanos();
        return true;
    }
}
