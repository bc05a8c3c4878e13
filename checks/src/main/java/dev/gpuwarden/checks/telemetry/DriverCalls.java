package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Reading;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The calls of the manager's thread into the driver, so that others can see which one is late. */
final class DriverCalls {

    private final Sampling sampling;
    private final GpuRegistry monitors;

    /** The call under way; null if there is none. */
    private volatile @Nullable Call call;

    /** @param counted its start in the time that {@link PauseDetector} counts */
    private record Call(String what, long startedNanos, long counted) {}

    DriverCalls(Sampling sampling, GpuRegistry monitors) {
        this.sampling = sampling;
        this.monitors = monitors;
    }

    <T> T run(String what, Supplier<T> body) {
        long now = sampling.clock().getAsLong();
        call = new Call(what, now, sampling.pauses().counted(now));
        try {
            return body.get();
        } finally {
            call = null;
        }
    }

    /**
     * Runs a body that shuts the library down and initialises it, while workers wait outside.
     *
     * @return what the driver answered; empty if a worker did not leave the driver and the body did not run
     */
    Optional<Reading<Boolean>> whileWorkersWait(Supplier<Reading<Boolean>> body) {
        sampling.gate().close();
        try {
            if (!workersOutside()) {
                return Optional.empty();
            }
            sampling.counters().reinitialisations.incrementAndGet();
            return Optional.of(body.get());
        } finally {
            sampling.gate().open();
        }
    }

    /** Waits until no worker is in the driver, the deadline at most. Returns whether that was reached. */
    boolean workersOutside() {
        long giveUp =
                sampling.clock().getAsLong() + sampling.settings().deadline.toNanos();
        while (monitors.anyInDriver()) {
            if (sampling.clock().getAsLong() - giveUp >= 0) {
                return false;
            }
            LockSupport.parkNanos(this, DriverGate.POLL_NANOS);
        }
        return true;
    }

    /** Returns which call is late, and for how long; empty if none is. For any thread. */
    Optional<String> late(long nowNanos) {
        Call under = call;
        long deadline = sampling.settings().openDeadline.toNanos();
        if (under == null || !sampling.pauses().late(under.counted(), deadline, nowNanos)) {
            return Optional.empty();
        }
        return Optional.of(under.what() + " has not returned for "
                + TimeUnit.NANOSECONDS.toSeconds(nowNanos - under.startedNanos()) + " s");
    }
}
