package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.process.NodeMemory;
import dev.gpuwarden.watchdog.budget.Tenancy;
import dev.gpuwarden.watchdog.budget.TermsSource;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Observations of GPUs from snapshots of the sampler. The tenants of a list are kept until there is a newer list. Not thread-safe. */
public final class Observations {

    /** Terms change without a new list: a pod ends, a unit starts. */
    private static final long TERMS_NANOS = Duration.ofSeconds(1).toNanos();

    /** The age of a list is computed again for each snapshot, so equal lists differ by this much. */
    private static final long SAME_LIST_NANOS = Duration.ofMillis(20).toNanos();

    private static final List<GpuMetric> NEEDED =
            List.of(GpuMetric.MEMORY_TOTAL, GpuMetric.MEMORY_USED, GpuMetric.MEMORY_FREE);

    private final NodeMemory memory;
    private final List<TermsSource> sources;
    private final Map<String, Listed> byGpu = new HashMap<>();

    /** @param readAtNanos time at which the terms were read */
    private record Listed(long listedAtNanos, long readAtNanos, Reading<List<Tenant>> tenants) {}

    /** @param sources the first that is responsible for a process decides */
    public Observations(NodeMemory memory, List<TermsSource> sources) {
        this.memory = memory;
        this.sources = List.copyOf(sources);
    }

    /**
     * Returns one observation for each GPU, in the snapshot's order.
     *
     * @param nowNanos time of the snapshot by {@code System.nanoTime}
     */
    public List<GpuObservation> of(NodeSnapshot node, long nowNanos) {
        if (node.gpus().stream().anyMatch(gpu -> isOld(gpu, nowNanos))) {
            list(node, nowNanos);
        }
        List<GpuObservation> observations = new ArrayList<>(node.gpus().size());
        for (GpuSnapshot gpu : node.gpus()) {
            Listed listed = byGpu.get(gpu.identity().selector());
            long readAt = Math.max(
                    gpu.frame().sampledAtNanos(Cadence.FAST), gpu.frame().sampledAtNanos(Cadence.MEMORY));
            long listedAt = listed == null ? 0 : listed.listedAtNanos;
            observations.add(new GpuObservation(
                    gpu.identity().selector(),
                    // A turn reads the memory first and lists the processes then.
                    Math.max(readAt, listedAt),
                    readAt,
                    bytes(gpu),
                    listed == null ? Reading.absent(Absence.PENDING) : listed.tenants,
                    listedAt));
        }
        byGpu.keySet()
                .retainAll(node.gpus().stream()
                        .map(gpu -> gpu.identity().selector())
                        .toList());
        return observations;
    }

    private boolean isOld(GpuSnapshot gpu, long nowNanos) {
        Listed listed = byGpu.get(gpu.identity().selector());
        return listed == null
                || nowNanos - listed.readAtNanos >= TERMS_NANOS
                || isLater(listedAt(gpu, nowNanos), listed);
    }

    private static boolean isLater(long listedAtNanos, Listed before) {
        return listedAtNanos - before.listedAtNanos > SAME_LIST_NANOS;
    }

    private void list(NodeSnapshot node, long nowNanos) {
        List<GpuMemoryUse> uses = memory.attribute(node);
        for (int i = 0; i < uses.size(); i++) {
            GpuSnapshot gpu = node.gpus().get(i);
            Listed before = byGpu.get(gpu.identity().selector());
            long listedAt = listedAt(gpu, nowNanos);
            byGpu.put(
                    gpu.identity().selector(),
                    new Listed(
                            before == null || isLater(listedAt, before) ? listedAt : before.listedAtNanos,
                            nowNanos,
                            Tenancy.tenants(uses.get(i), sources)));
        }
    }

    private static long listedAt(GpuSnapshot gpu, long nowNanos) {
        return nowNanos - gpu.processesAgeNanos().asOptional().orElse(0L);
    }

    private static Reading<GpuBytes> bytes(GpuSnapshot gpu) {
        if (!gpu.mig().isEmpty()) {
            return Reading.absent(Absence.NOT_SUPPORTED, 0, "the GPU is partitioned (MIG)");
        }
        GpuFrame frame = gpu.frame();
        for (GpuMetric metric : NEEDED) {
            if (frame.reading(metric) instanceof Reading.Absent<Long> none) {
                return Reading.absent(none.cause(), none.code(), metric.label());
            }
        }
        return Reading.of(new GpuBytes(
                frame.raw(GpuMetric.MEMORY_TOTAL),
                frame.reading(GpuMetric.MEMORY_RESERVED).asOptional().orElse(0L),
                frame.raw(GpuMetric.MEMORY_USED),
                frame.raw(GpuMetric.MEMORY_FREE)));
    }
}
