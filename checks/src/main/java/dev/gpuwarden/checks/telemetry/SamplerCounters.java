package dev.gpuwarden.checks.telemetry;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntSupplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** The sampler's own counters. Recording allocates nothing and takes no lock. */
final class SamplerCounters implements SamplerStats {

    private static final long LONGEST_MICROS = TimeUnit.HOURS.toMicros(1);

    private final AtomicLongArray overruns = new AtomicLongArray(Work.values().length);
    private final Histogram[] durations = new Histogram[Work.values().length];
    final AtomicLong hungTurns = new AtomicLong();
    final AtomicLong replacementThreads = new AtomicLong();
    final AtomicLong driverOpenings = new AtomicLong();
    final AtomicLong reinitialisations = new AtomicLong();
    private final IntSupplier hungThreads;

    SamplerCounters(IntSupplier hungThreads) {
        this.hungThreads = hungThreads;
        for (int i = 0; i < durations.length; i++) {
            durations[i] = new ConcurrentHistogram(1, LONGEST_MICROS, 2);
        }
    }

    void turn(Work work, long durationNanos) {
        durations[work.ordinal()].recordValue(Math.min(Math.max(durationNanos, 0) / 1000, LONGEST_MICROS));
    }

    void overrun(Work work, long missed) {
        overruns.addAndGet(work.ordinal(), missed);
    }

    @Override
    public long overruns(Work work) {
        return overruns.get(work.ordinal());
    }

    @Override
    public Histogram durationsMicros(Work work) {
        return durations[work.ordinal()].copy();
    }

    @Override
    public long hungTurns() {
        return hungTurns.get();
    }

    @Override
    public long replacementThreads() {
        return replacementThreads.get();
    }

    @Override
    public int hungThreads() {
        return hungThreads.getAsInt();
    }

    @Override
    public long driverOpenings() {
        return driverOpenings.get();
    }

    @Override
    public long reinitialisations() {
        return reinitialisations.get();
    }
}
