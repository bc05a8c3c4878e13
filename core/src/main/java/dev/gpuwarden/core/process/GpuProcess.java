package dev.gpuwarden.core.process;

import dev.gpuwarden.core.model.Reading;

/**
 * One process that holds a GPU, as the driver reports it.
 *
 * @param pid in the PID namespace that the driver uses: the caller's on open kernel modules, the host's on older
 *     ones
 * @param usedBytes GPU memory; absent where the driver does not report it (WDDM, other PID namespaces)
 * @param gpuInstance MIG GPU instance; absent where the GPU is not partitioned
 * @param computeInstance MIG compute instance; absent where the GPU is not partitioned
 */
public record GpuProcess(
        int pid, Type type, Reading<Long> usedBytes, Reading<Integer> gpuInstance, Reading<Integer> computeInstance) {

    /** The use of the GPU by the process. */
    public enum Type {
        COMPUTE,
        GRAPHICS,
        MPS
    }
}
