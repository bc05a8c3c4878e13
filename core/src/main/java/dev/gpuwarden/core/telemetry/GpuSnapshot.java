package dev.gpuwarden.core.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import java.util.List;

/**
 * One GPU at one moment.
 *
 * @param detail the reason for the state in words; empty where the GPU answers
 * @param frame a private copy; stale values in it are already marked {@code STALE}
 * @param ageNanos time since the last complete fast sampling; absent before the first
 * @param processes absent while never listed, or with the driver's cause
 * @param refusedValues implausible values refused since start
 * @param mig the partitions, in the order of the identity
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

    /** One partition at one moment: mainly its memory. */
    public record MigSnapshot(GpuIdentity.MigDevice identity, GpuFrame frame) {}
}
