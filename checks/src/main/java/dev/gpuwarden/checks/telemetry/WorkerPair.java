package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.checks.telemetry.SamplerStats.Work;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The threads of one GPU: one, and at most one more while a call hangs. Guarded by the lock of their {@link
 * GpuMonitor}.
 *
 * <p>A thread whose call exceeds the deadline is replaced once. The replacement skips the kind of work that hangs,
 * unless that is the fast sampling, without which no work would be left. If it hangs too, there are no more threads.
 * The first one that returns from the driver goes on; the other ends when it returns.
 */
final class WorkerPair {

    private final LongSupplier clock;
    private final SamplerCounters counters;
    private @Nullable GpuWorker current;
    private @Nullable GpuWorker stuck;

    WorkerPair(LongSupplier clock, SamplerCounters counters) {
        this.clock = clock;
        this.counters = counters;
    }

    void begin(GpuWorker worker) {
        current = worker;
    }

    /** Returns whether this worker's results count. */
    boolean isCurrent(GpuWorker worker) {
        return worker == current;
    }

    /** Stops the current worker; one that is in the driver is kept until it returns. */
    void dismiss() {
        GpuWorker worker = current;
        if (worker != null) {
            worker.stop();
            if (stuck == null && worker.callStarted() != 0) {
                stuck = worker;
            }
        }
        current = null;
    }

    void stop() {
        all().forEach(GpuWorker::stop);
    }

    List<GpuWorker> all() {
        return Stream.of(current, stuck).filter(Objects::nonNull).toList();
    }

    /** Replaces a hung thread where that is still allowed. */
    void replaceHung(long nowNanos, Supplier<GpuWorker> replacement) {
        GpuWorker worker = current;
        if (worker == null || !worker.stuck(nowNanos)) {
            return;
        }
        if (worker.countedCall != worker.callStarted()) {
            worker.countedCall = worker.callStarted();
            counters.hungTurns.incrementAndGet();
        }
        if (stuck == null) {
            stuck = worker;
            current = replacement.get();
            counters.replacementThreads.incrementAndGet();
        }
    }

    /** Returns whether a replaced thread that came back goes on; otherwise it must end. */
    boolean resume(GpuWorker worker) {
        if (worker == current) {
            return true;
        }
        if (worker != stuck) {
            return false;
        }
        if (hangs(current, clock.getAsLong())) {
            stuck = current;
            current = worker;
            return true;
        }
        stuck = null;
        return false;
    }

    /** Returns whether the thread that this one replaces is in a call of this kind. */
    boolean otherIsIn(Work work, GpuWorker worker) {
        GpuWorker other = stuck;
        return worker == current && other != null && other.callStarted() != 0 && other.callWork() == work;
    }

    boolean inDriver() {
        return isInDriver(current) || isInDriver(stuck);
    }

    private static boolean isInDriver(@Nullable GpuWorker worker) {
        return worker != null && worker.callStarted() != 0;
    }

    int hung(long nowNanos) {
        return (hangs(current, nowNanos) ? 1 : 0) + (hangs(stuck, nowNanos) ? 1 : 0);
    }

    /** Returns whether no thread is left for the GPU's work. */
    boolean currentHangs(long nowNanos) {
        return hangs(current, nowNanos);
    }

    /** Returns the thread that hangs in this kind of work, or null. */
    @Nullable GpuWorker hungIn(Work work, long nowNanos) {
        if (hangsIn(current, work, nowNanos)) {
            return current;
        }
        return hangsIn(stuck, work, nowNanos) ? stuck : null;
    }

    /** Returns for how long this kind of work has hung, as text; empty if it does not hang. */
    String hungText(Work work, String what, long nowNanos) {
        GpuWorker worker = hungIn(work, nowNanos);
        return worker == null
                ? ""
                : what + " has not returned for " + TimeUnit.NANOSECONDS.toSeconds(nowNanos - worker.callStarted())
                        + " s";
    }

    private static boolean hangs(@Nullable GpuWorker worker, long nowNanos) {
        return worker != null && worker.stuck(nowNanos);
    }

    private static boolean hangsIn(@Nullable GpuWorker worker, Work work, long nowNanos) {
        return worker != null && worker.stuck(nowNanos) && worker.callWork() == work;
    }
}
