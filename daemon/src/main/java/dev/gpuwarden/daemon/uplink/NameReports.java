package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.GpuNamesCodec;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.model.GpuIdentity;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** The names of the node's GPUs, sent before the faults and when they change. Reads them at most once a second. */
final class NameReports {

    private static final long AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Supplier<List<GpuIdentity>> gpus;
    private Optional<NodeReport> sent = Optional.empty();
    private boolean requested;
    private boolean read;
    private long readNanos;

    /** @param gpus must not block */
    NameReports(Supplier<List<GpuIdentity>> gpus) {
        this.gpus = gpus;
    }

    /** Requests a new reading: a GPU may have other names now. */
    void refresh() {
        requested = true;
    }

    /** Returns the names if they differ from those sent before; empty if not, or before it is time to read them. */
    Optional<NodeReport> next(long nowNanos) {
        if (!requested || pauseNanos(nowNanos) > 0) {
            return Optional.empty();
        }
        requested = false;
        read = true;
        readNanos = nowNanos;
        NodeReport now = GpuNamesCodec.report(gpus.get());
        if (sent.isPresent() && sent.get().equals(now)) {
            return Optional.empty();
        }
        sent = Optional.of(now);
        return sent;
    }

    /** Returns the nanoseconds until the next requested reading; Long.MAX_VALUE if none is requested. */
    long pauseNanos(long nowNanos) {
        if (!requested) {
            return Long.MAX_VALUE;
        }
        return read ? Math.max(0, readNanos + AGAIN_NANOS - nowNanos) : 0;
    }
}
