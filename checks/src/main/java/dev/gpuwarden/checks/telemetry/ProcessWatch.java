package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The GPUs whose processes are listed with each fast turn, not only at the interval of process lists, because a check
 * that works on them must end when a process arrives. Thread-safe.
 */
public final class ProcessWatch {

    private final Set<String> gpus = ConcurrentHashMap.newKeySet();

    /** @param selector as {@link GpuIdentity#selector} returns it */
    public void begin(String selector) {
        gpus.add(selector);
    }

    public void end(String selector) {
        gpus.remove(selector);
    }

    /** Allocates nothing while no GPU is watched. */
    boolean has(GpuIdentity gpu) {
        return !gpus.isEmpty() && gpus.contains(gpu.selector());
    }
}
