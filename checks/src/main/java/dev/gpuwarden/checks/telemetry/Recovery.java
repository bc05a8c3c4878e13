package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.limit.Backoff;
import java.time.Duration;

/**
 * The back-off before the library is initialised again, which is the only way to see GPUs that came back. Every GPU's
 * readings stop during that. So it does not happen immediately, happens less often while it does not help, and never
 * while a call hangs, for which it would wait.
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
     * @param wanted whether a GPU is lost, gone, or on the PCI bus and not listed
     * @param changed whether the PCI bus shows other GPUs than before, which resets the back-off
     * @param blocked whether a call hangs
     * @return whether the library must be initialised again now
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
