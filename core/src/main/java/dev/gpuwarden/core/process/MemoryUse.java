package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Reading;

/**
 * GPU memory of one process on one GPU, with its owner.
 *
 * @param startTicks field 22 of /proc/PID/stat, which distinguishes it from a later process with the same PID
 * @param command the process's short name from /proc, untrusted
 */
public record MemoryUse(GpuProcess process, Reading<Long> startTicks, Reading<String> command, Owner owner) {
    public Reading<Long> usedBytes() {
        return process.usedBytes();
    }
}
