package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.core.util.Wakeup;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Answers the aggregator's requests for the holders of the GPUs. One lookup runs at a time, in a thread of its own,
 * at most once a second. Only the newest waiting request is answered: its answer serves earlier requests too. Used by
 * one session and its thread.
 */
final class HolderResponder {

    static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<Reading<GpuHolders>> holders;
    private final Clock clock;
    private final Wakeup wakeup;
    private final AtomicReference<Optional<NodeReport>> answer = new AtomicReference<>(Optional.empty());
    private Optional<String> asked = Optional.empty();
    private boolean running;
    private boolean started;
    private long startedNanos;

    HolderResponder(Supplier<Reading<GpuHolders>> holders, Clock clock, Wakeup wakeup) {
        this.holders = holders;
        this.clock = clock;
        this.wakeup = wakeup;
    }

    void asked(String id) {
        asked = Optional.of(id);
    }

    /** Starts a lookup if a request waits and the second has passed. Does not block. */
    void startLookup(long nowNanos) {
        if (asked.isEmpty() || running || started && nowNanos - startedNanos < EACH_NANOS) {
            return;
        }
        String id = asked.get();
        asked = Optional.empty();
        running = true;
        started = true;
        startedNanos = nowNanos;
        Threads.daemon("gpuwarden-holders", () -> lookUp(id)).start();
    }

    private void lookUp(String id) {
        Reading<GpuHolders> seen = Reading.absent(Absence.FAILED, 0, "the lookup ended without an answer");
        try {
            seen = holders.get();
        } catch (RuntimeException e) {
            seen = Reading.absent(Absence.FAILED, 0, e.toString());
        } finally {
            answer.set(Optional.of(HoldingsCodec.report(id, clock.instant(), seen)));
            wakeup.signal();
        }
    }

    /** Returns the answer of the last lookup and removes it. */
    Optional<NodeReport> answer() {
        Optional<NodeReport> seen = answer.getAndSet(Optional.empty());
        running &= seen.isEmpty();
        return seen;
    }

    /** Returns the time until the next lookup; {@code Long.MAX_VALUE} if no request waits. */
    long pauseNanos(long nowNanos) {
        return asked.isPresent() && !running ? Math.max(0, startedNanos + EACH_NANOS - nowNanos) : Long.MAX_VALUE;
    }
}
