package dev.gpuwarden.checks.telemetry;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The readings that the VRAM watchdog needs beyond the schedule. A GPU with too little free memory is read again soon,
 * because a decision needs several readings and a process list that is not old. Thread-safe.
 */
public final class MemoryWatch {

    /** Time between two readings of a GPU with too little free memory. */
    static final Duration HASTE = Duration.ofMillis(100);

    /** Age from which processes are listed again, for a GPU with too little memory and one that is watched. */
    static final Duration LIST_AGE = Duration.ofSeconds(1);

    private final Map<String, Wish> byGpu = new ConcurrentHashMap<>();
    private volatile Runnable whenChanged = () -> {};

    private record Wish(long hastenBelowBytes, boolean list) {}

    /**
     * Replaces the wish for a GPU.
     *
     * @param selector as {@link GpuIdentity#selector} returns it
     * @param hastenBelowBytes free memory below which the GPU is read again soon, with its processes; 0 for never
     * @param list whether its processes are listed every second
     */
    public void set(String selector, long hastenBelowBytes, boolean list) {
        byGpu.put(selector, new Wish(hastenBelowBytes, list));
    }

    /** @param whenChanged runs after a reading with other memory than the one before; must not block */
    public void whenChanged(Runnable whenChanged) {
        this.whenChanged = whenChanged;
    }

    /** Announces a reading with other memory than the one before. */
    void changed() {
        whenChanged.run();
    }

    /** Returns whether the GPU must be read again soon. */
    boolean hastens(GpuIdentity gpu, GpuFrame frame) {
        Wish wish = byGpu.isEmpty() ? null : byGpu.get(gpu.selector());
        return wish != null
                && frame.present(GpuMetric.MEMORY_FREE)
                && frame.raw(GpuMetric.MEMORY_FREE) < wish.hastenBelowBytes;
    }

    boolean lists(GpuIdentity gpu) {
        Wish wish = byGpu.isEmpty() ? null : byGpu.get(gpu.selector());
        return wish != null && wish.list;
    }
}
