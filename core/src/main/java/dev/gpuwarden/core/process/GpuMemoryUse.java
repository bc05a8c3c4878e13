package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import java.util.List;

/**
 * Whose memory a GPU holds.
 *
 * @param uses one row per process (and MIG partition), absent when the process list could not be had
 * @param usedBytes what the GPU says is in use
 * @param unattributedBytes used memory that no process answers for: driver overhead, contexts of dead processes, clients of
 *     other PID namespaces. Never negative; absent when one of its two sides is
 * @param overattributedBytes what processes claim beyond the memory in use, because the two were read at different times or
 *     the driver counts shared memory twice; 0 as a rule, absent together with {@code unattributedBytes}
 */
public record GpuMemoryUse(
        GpuIdentity gpu,
        Reading<List<MemoryUse>> uses,
        Reading<Long> usedBytes,
        Reading<Long> unattributedBytes,
        Reading<Long> overattributedBytes) {}
