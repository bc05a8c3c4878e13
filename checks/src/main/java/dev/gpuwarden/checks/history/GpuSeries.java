package dev.gpuwarden.checks.history;

import dev.gpuwarden.checks.telemetry.FrameListener;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.Kind;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.core.telemetry.Unit;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The last minutes of one GPU. Its lock is held for microseconds, by the GPU's thread once for each sample and by
 * readers, so that neither delays the other noticeably.
 */
final class GpuSeries implements FrameListener, GpuHistory {

    /** Counters of events. Those of bytes, time and energy outgrow a cell, and no rate of them is needed. */
    private static final GpuMetric[] COUNTERS = IntStream.range(0, GpuMetric.count())
            .mapToObj(GpuMetric::of)
            .filter(metric -> metric.kind() == Kind.COUNTER && metric.unit() == Unit.NONE)
            .toArray(GpuMetric[]::new);

    private static final LinkMetric[] LINK_COUNTERS = IntStream.range(0, LinkMetric.count())
            .mapToObj(LinkMetric::of)
            .filter(metric -> metric.kind() == Kind.COUNTER)
            .toArray(LinkMetric[]::new);

    private final NodeHistory node;
    private final LongSupplier clock;
    private final CounterSeries counters = new CounterSeries(COUNTERS.length);
    private final FlagSeries reasons = new FlagSeries();
    private final RecentSamples samples;
    /** Created when the GPU reports links; most boards have none. */
    private @Nullable CounterSeries links;

    private int linkCount;
    private @Nullable GpuIdentity known;

    GpuSeries(NodeHistory node, LongSupplier clock, Duration fastInterval) {
        this.node = node;
        this.clock = clock;
        this.samples = RecentSamples.every(fastInterval);
    }

    @Override
    public void published(GpuIdentity gpu, Cadence cadence, GpuFrame frame) {
        GpuIdentity before = known;
        if (gpu != before) {
            known = gpu;
            node.rename(this, before, gpu);
        }
        note(cadence, frame, clock.getAsLong());
    }

    private synchronized void note(Cadence cadence, GpuFrame frame, long nanos) {
        int step = TimeStep.of(nanos);
        counters.enter(step);
        for (int i = 0; i < COUNTERS.length; i++) {
            if (COUNTERS[i].cadence() == cadence) {
                note(counters, i, frame, COUNTERS[i].ordinal());
            }
        }
        if (cadence == Cadence.FAST) {
            int slot = GpuMetric.CLOCK_EVENT_REASONS.ordinal();
            if (frame.present(slot)) {
                reasons.present(step, frame.raw(slot));
            } else {
                reasons.absent(frame.absence(slot), frame.code(slot));
            }
            samples.note(nanos, frame);
        } else {
            noteLinks(step, frame);
        }
    }

    private void noteLinks(int step, GpuFrame frame) {
        int seen = frame.present(GpuMetric.NVLINK_LINKS) ? (int) frame.raw(GpuMetric.NVLINK_LINKS) : 0;
        if (seen > linkCount) {
            linkCount = Math.min(seen, LinkMetric.MAX_LINKS);
            links = new CounterSeries(linkCount * LINK_COUNTERS.length);
        }
        CounterSeries trail = links;
        if (trail == null) {
            return;
        }
        trail.enter(step);
        for (int link = 0; link < linkCount; link++) {
            for (int i = 0; i < LINK_COUNTERS.length; i++) {
                note(trail, link * LINK_COUNTERS.length + i, frame, GpuFrame.slot(LINK_COUNTERS[i], link));
            }
        }
    }

    private static void note(CounterSeries trail, int counter, GpuFrame frame, int slot) {
        if (frame.present(slot)) {
            trail.present(counter, frame.raw(slot));
        } else {
            trail.absent(counter, frame.absence(slot), frame.code(slot));
        }
    }

    @Override
    public synchronized Reading<Long> increase(GpuMetric counter, Duration window) {
        int steps = TimeStep.count(window);
        for (int i = 0; i < COUNTERS.length; i++) {
            if (COUNTERS[i] == counter) {
                return counters.increase(i, now(), steps);
            }
        }
        return notKept(counter.label());
    }

    @Override
    public synchronized Reading<Long> increase(int link, LinkMetric counter, Duration window) {
        int steps = TimeStep.count(window);
        CounterSeries trail = links;
        if (trail == null || link >= linkCount) {
            return Reading.absent(Absence.PENDING, 0, "link " + link + " was not seen yet");
        }
        for (int i = 0; i < LINK_COUNTERS.length; i++) {
            if (LINK_COUNTERS[i] == counter) {
                return trail.increase(link * LINK_COUNTERS.length + i, now(), steps);
            }
        }
        return notKept(counter.label());
    }

    @Override
    public synchronized Reading<Double> share(GpuMetric flags, long bits, Duration window) {
        int steps = TimeStep.count(window);
        return flags == GpuMetric.CLOCK_EVENT_REASONS ? reasons.share(bits, now(), steps) : notKept(flags.label());
    }

    synchronized RecentSamples recent() {
        return samples.copy();
    }

    private int now() {
        return TimeStep.of(clock.getAsLong());
    }

    private static <T> Reading<T> notKept(String label) {
        return Reading.absent(Absence.NOT_SUPPORTED, 0, "no history is kept of " + label);
    }
}
