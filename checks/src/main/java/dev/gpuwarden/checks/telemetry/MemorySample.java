package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;

/**
 * The memory of one GPU at its last reading: a few numbers, where a snapshot copies every reading of the GPU.
 *
 * @param total bytes, as all that follow; absent with their cause, also where the GPU stopped to answer
 * @param readAtNanos time of the reading by {@code System.nanoTime}; 0 before the first
 * @param listedAtNanos time of the last process list by the same clock; 0 before the first
 */
public record MemorySample(
        GpuIdentity gpu,
        Reading<Long> total,
        Reading<Long> reserved,
        Reading<Long> used,
        Reading<Long> free,
        long readAtNanos,
        long listedAtNanos) {

    /** @param stale whether the GPU has not been read for too long */
    static MemorySample of(GpuIdentity gpu, GpuFrame frame, boolean stale, long listedAtNanos) {
        return new MemorySample(
                gpu,
                reading(frame, GpuMetric.MEMORY_TOTAL, stale),
                reading(frame, GpuMetric.MEMORY_RESERVED, stale),
                reading(frame, GpuMetric.MEMORY_USED, stale),
                reading(frame, GpuMetric.MEMORY_FREE, stale),
                Math.max(frame.sampledAtNanos(Cadence.FAST), frame.sampledAtNanos(Cadence.MEMORY)),
                listedAtNanos);
    }

    /** Returns whether two readings of one GPU differ in memory. */
    static boolean differ(GpuFrame one, GpuFrame other) {
        return differ(one, other, GpuMetric.MEMORY_USED) || differ(one, other, GpuMetric.MEMORY_FREE);
    }

    private static boolean differ(GpuFrame one, GpuFrame other, GpuMetric metric) {
        return one.present(metric) != other.present(metric) || one.raw(metric) != other.raw(metric);
    }

    private static Reading<Long> reading(GpuFrame frame, GpuMetric metric, boolean stale) {
        return stale && frame.present(metric) ? Reading.absent(Absence.STALE) : frame.reading(metric);
    }
}
