package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.sink.Wakeup;
import java.time.Clock;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/**
 * Looks who holds the GPUs whenever the aggregator asks: one look at a time, in a thread of its own, once a second at most.
 * Of questions that wait only the newest is answered, which whoever asked the others wants to know too. Of one session and its
 * thread.
 */
final class HolderResponder {

    static final long EACH_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<Reading<GpuHolders>> holders;
    private final Clock clock;
    private final Wakeup bell;
    private final AtomicReference<Optional<NodeReport>> answer = new AtomicReference<>(Optional.empty());
    private Optional<String> asked = Optional.empty();
    private boolean looking;
    private boolean looked;
    private long lookedNanos;

    HolderResponder(Supplier<Reading<GpuHolders>> holders, Clock clock, Wakeup bell) {
        this.holders = holders;
        this.clock = clock;
        this.bell = bell;
    }

    void asked(String id) {
        asked = Optional.of(id);
    }

    /** Begins to look if somebody has asked, and it is time. Does not wait. */
    void look(long nowNanos) {
        if (asked.isEmpty() || looking || looked && nowNanos - lookedNanos < EACH_NANOS) {
            return;
        }
        String id = asked.get();
        asked = Optional.empty();
        looking = true;
        looked = true;
        lookedNanos = nowNanos;
        Threads.daemon("gpuwarden-holders", () -> look(id)).start();
    }

    private void look(String id) {
        Reading<GpuHolders> seen = Reading.absent(Absence.FAILED, 0, "the look ended without an answer");
        try {
            seen = holders.get();
        } catch (RuntimeException e) {
            seen = Reading.absent(Absence.FAILED, 0, e.toString());
        } finally {
            answer.set(Optional.of(HoldingsCodec.report(id, clock.instant(), seen)));
            bell.ring();
        }
    }

    /** What was seen, once. */
    Optional<NodeReport> answer() {
        Optional<NodeReport> seen = answer.getAndSet(Optional.empty());
        looking &= seen.isEmpty();
        return seen;
    }

    /** How long to wait until the next look, if nobody rings; without end if there is none to be made. */
    long pauseNanos(long nowNanos) {
        return asked.isPresent() && !looking ? Math.max(0, lookedNanos + EACH_NANOS - nowNanos) : Long.MAX_VALUE;
    }
}
