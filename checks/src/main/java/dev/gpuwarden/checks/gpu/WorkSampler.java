package dev.gpuwarden.checks.gpu;

import dev.gpuwarden.core.compute.WorkReadings;
import dev.gpuwarden.core.compute.WorkReadings.Moment;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.Threads;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Reads power, clocks and temperature of GPUs while they work, each on a thread of its own: a GPU whose driver hangs
 * leaves its thread behind, and delays neither the work nor the other GPUs.
 */
final class WorkSampler implements AutoCloseable {

    /** Power and clocks of a GPU change within milliseconds, but a call of the driver may take several of them. */
    private static final long INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Bound on the samples of a GPU: those of the first 80 s. */
    private static final int MOST_SAMPLES = 4000;

    private static final long CLOSE_MILLIS = 100;
    private static final long FRESH_MILLIS = 100;

    private final Map<GpuSnapshot, Samples> samples = new LinkedHashMap<>();
    private volatile boolean stopped;

    /** The moments of one GPU, and the thread that reads them. */
    private final class Samples implements Runnable {

        private final Driver driver;
        private final int index;
        private final List<Moment> moments = new ArrayList<>();
        private long lastBegun;
        private final Thread thread = Threads.daemon("gpuwarden-work-readings", Threads.SMALL_STACK_BYTES, this);

        Samples(Driver driver, int index) {
            this.driver = driver;
            this.index = index;
        }

        @Override
        public void run() {
            GpuFrame frame = new GpuFrame();
            try (Driver.Sampler sampler = driver.sampler(index)) {
                while (!stopped && size() < MOST_SAMPLES) {
                    long begun = System.nanoTime();
                    sampler.sample(Cadence.FAST, frame);
                    sampler.sample(Cadence.SLOW, frame);
                    add(Moment.of(frame), begun);
                    LockSupport.parkNanos(this, INTERVAL_NANOS);
                }
            }
        }

        private synchronized void add(Moment moment, long begunNanos) {
            moments.add(moment);
            lastBegun = begunNanos;
            notifyAll();
        }

        private synchronized Optional<Moment> since(long nanos) {
            long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(FRESH_MILLIS);
            try {
                while (moments.isEmpty() || lastBegun - nanos < 0) {
                    long left = end - System.nanoTime();
                    if (left <= 0) {
                        return Optional.empty();
                    }
                    TimeUnit.NANOSECONDS.timedWait(this, left);
                }
                return Optional.of(moments.get(moments.size() - 1));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            }
        }

        private synchronized int size() {
            return moments.size();
        }

        private synchronized List<Moment> copy() {
            return List.copyOf(moments);
        }
    }

    /** Starts to read these GPUs; without a driver it reads nothing. */
    WorkSampler(Reading<Driver> driver, List<GpuSnapshot> gpus) {
        driver.asOptional()
                .ifPresent(open -> gpus.forEach(
                        gpu -> samples.put(gpu, new Samples(open, gpu.identity().index()))));
        samples.values().forEach(each -> each.thread.start());
    }

    /**
     * Returns a temperature that was read since this time, in degrees Celsius. Waits for it, 100 ms at most; absent if there is none until
     * then.
     *
     * @param sinceNanos in {@code System.nanoTime}
     */
    Reading<Long> celsius(GpuSnapshot gpu, long sinceNanos) {
        Samples own = samples.get(gpu);
        return own == null
                ? Reading.absent(Absence.NOT_SUPPORTED, 0, "no reading during the work")
                : own.since(sinceNanos)
                        .map(Moment::celsius)
                        .orElseGet(() -> Reading.absent(Absence.STALE, 0, "no reading in time"));
    }

    /** Returns what was read of a GPU until now. */
    WorkReadings of(GpuSnapshot gpu) {
        Samples own = samples.get(gpu);
        return WorkReadings.of(own == null ? List.of() : own.copy());
    }

    @Override
    public void close() {
        stopped = true;
        samples.values().forEach(each -> LockSupport.unpark(each.thread));
        samples.values().forEach(each -> Threads.join(each.thread, CLOSE_MILLIS));
    }
}
