package dev.gpuwarden.checks.history;

import dev.gpuwarden.checks.telemetry.FrameListener;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.model.GpuIdentity;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The last minutes of every GPU of this node: 15 of counters and clock event reasons, 90 seconds of samples. Pass it
 * to the sampler as the source of its listeners. Bounded for each GPU, whatever the driver reports. Thread-safe.
 */
public final class NodeHistory implements Supplier<FrameListener> {

    private final LongSupplier clock;
    private final Duration fastInterval;
    private final Map<String, GpuSeries> byName = new ConcurrentHashMap<>();

    /** @param clock the sampler's */
    public NodeHistory(Duration fastInterval, LongSupplier clock) {
        this.fastInterval = fastInterval;
        this.clock = clock;
    }

    /** Returns a listener for one more GPU, which its first sample names. */
    @Override
    public FrameListener get() {
        return new GpuSeries(this, clock, fastInterval);
    }

    /** Returns the history of a GPU; {@link GpuHistory#NONE} for one that was never sampled. */
    public GpuHistory of(GpuIdentity gpu) {
        GpuSeries trail = byName.get(gpu.selector());
        return trail == null ? GpuHistory.NONE : trail;
    }

    /** Returns the fast readings of a GPU in the last 90 s, a copy of some ten kilobytes. */
    public RecentSamples recent(GpuIdentity gpu) {
        GpuSeries trail = byName.get(gpu.selector());
        return trail == null ? RecentSamples.NONE : trail.recent();
    }

    /** Assigns a name to the newest series that claims it, so that one series is kept for each GPU that ever had a name. */
    void rename(GpuSeries trail, @Nullable GpuIdentity before, GpuIdentity now) {
        if (before != null && !before.selector().equals(now.selector())) {
            byName.remove(before.selector(), trail);
        }
        byName.put(now.selector(), trail);
    }
}
