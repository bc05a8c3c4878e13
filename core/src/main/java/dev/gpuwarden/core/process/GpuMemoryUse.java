package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import java.util.List;

/**
 * The owners of a GPU's memory.
 *
 * @param uses one row per process (and MIG partition); absent where the process list could not be read
 * @param usedBytes used memory as the GPU reports it
 * @param unattributedBytes used memory of no process: driver overhead, contexts of dead processes, clients of other
 *     PID namespaces. Never negative; absent where one of its two sides is
 * @param overattributedBytes memory that processes claim beyond the used memory, because the two were read at
 *     different times or the driver counts shared memory twice; usually 0, absent together with {@code
 *     unattributedBytes}
 */
public record GpuMemoryUse(
        GpuIdentity gpu,
        Reading<List<MemoryUse>> uses,
        Reading<Long> usedBytes,
        Reading<Long> unattributedBytes,
        Reading<Long> overattributedBytes) {}
