package dev.gpuwarden.core.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import java.util.List;

/**
 * One GPU at one moment.
 *
 * @param detail what is behind the state, for people; empty when the GPU answers
 * @param frame a copy that nobody else changes; stale values in it are already marked {@code STALE}
 * @param ageNanos time since the last finished fast sampling; absent before the first
 * @param processes absent while never listed, or with the driver's cause
 * @param refusedValues implausible values refused since start
 * @param mig the partitions, same order as in the identity
 */
public record GpuSnapshot(
        GpuIdentity identity,
        GpuState state,
        String detail,
        GpuFrame frame,
        Reading<Long> ageNanos,
        Reading<List<GpuProcess>> processes,
        Reading<Long> processesAgeNanos,
        long refusedValues,
        List<MigSnapshot> mig) {

    /** One partition at one moment: memory, for the most part. */
    public record MigSnapshot(GpuIdentity.MigDevice identity, GpuFrame frame) {}
}
