package dev.gpuwarden.checks.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemory;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryAttribution;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Attributes each GPU's memory to its holders. Thread-safe; reads /proc, never waits for the driver. */
public record NodeMemory(ProcessOwners owners) {

    /** Returns one entry for each GPU, in the snapshot's order. */
    public List<GpuMemoryUse> attribute(NodeSnapshot node) {
        Map<Integer, Long> ages = new HashMap<>();
        for (GpuSnapshot gpu : node.gpus()) {
            long age = gpu.processesAgeNanos().asOptional().orElse(0L);
            for (GpuProcess process : processes(gpu).asOptional().orElse(List.of())) {
                ages.merge(process.pid(), age, Math::min);
            }
        }
        Map<Integer, ProcessFacts> facts = owners.lookUp(ages);
        List<GpuMemoryUse> uses = new ArrayList<>(node.gpus().size());
        for (GpuSnapshot gpu : node.gpus()) {
            uses.add(MemoryAttribution.attribute(
                    gpu.identity(),
                    memory(gpu.frame()),
                    processes(gpu),
                    pid -> facts.getOrDefault(pid, MemoryAttribution.unknown(ProcessOwners.GONE))));
        }
        return uses;
    }

    /** Returns the memory readings of a frame. */
    public static GpuMemory memory(GpuFrame frame) {
        return new GpuMemory(
                frame.reading(GpuMetric.MEMORY_TOTAL),
                frame.reading(GpuMetric.MEMORY_RESERVED),
                frame.reading(GpuMetric.MEMORY_FREE),
                frame.reading(GpuMetric.MEMORY_USED));
    }

    /** Returns the processes of a GPU. A list from before the GPU stopped answering does not describe the present. */
    private static Reading<List<GpuProcess>> processes(GpuSnapshot gpu) {
        Absence cause = switch (gpu.state()) {
            case STARTING, ANSWERING -> Absence.PRESENT;
            case HUNG -> Absence.STALE;
            case LOST, GONE -> Absence.GPU_LOST;
            case RESET_REQUIRED -> Absence.RESET_REQUIRED;
            case UNREADABLE -> Absence.FAILED;
            case RELEASED -> Absence.RELEASED;
        };
        return cause == Absence.PRESENT ? gpu.processes() : Reading.absent(cause, 0, gpu.detail());
    }
}
