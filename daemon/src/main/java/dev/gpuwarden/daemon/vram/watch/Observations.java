package dev.gpuwarden.daemon.vram.watch;

import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.checks.telemetry.MemorySample;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.watchdog.budget.Tenancy;
import dev.gpuwarden.watchdog.budget.TermsSource;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Observations of a node's GPUs. Memory is read each time, processes are attributed for a new list alone, and the terms
 * of tenants are read with it and every five seconds. Not thread-safe.
 */
public final class Observations {

    /** Terms change without a new list: a pod ends, a unit starts. Under pressure there is a new list every second. */
    private static final long TERMS_NANOS = Duration.ofSeconds(5).toNanos();

    private final NodeSampler sampler;
    private final NodeMemory memory;
    private final List<TermsSource> sources;
    private final Map<String, Listed> byGpu = new HashMap<>();

    /** @param termsAtNanos time at which the terms were read */
    private record Listed(GpuMemoryUse uses, long listedAtNanos, long termsAtNanos, Reading<List<Tenant>> tenants) {

        /** Reads no process again, only the terms of those that are listed. */
        Listed withCurrentTerms(List<TermsSource> sources, long nowNanos) {
            return nowNanos - termsAtNanos < TERMS_NANOS
                    ? this
                    : new Listed(uses, listedAtNanos, nowNanos, Tenancy.tenants(uses, sources));
        }
    }

    /** One GPU and its observation. */
    public record Observed(GpuIdentity gpu, GpuObservation observation) {}

    /** @param sources the first that is responsible for a process decides */
    public Observations(NodeSampler sampler, NodeMemory memory, List<TermsSource> sources) {
        this.sampler = sampler;
        this.memory = memory;
        this.sources = List.copyOf(sources);
    }

    /** Returns one observation for each GPU. Reads /proc after a new process list; never waits for the driver. */
    public List<Observed> read() {
        long now = System.nanoTime();
        List<MemorySample> samples = sampler.memory();
        if (samples.stream().anyMatch(this::hasNewList)) {
            attribute(samples, now);
        }
        List<Observed> observations = new ArrayList<>(samples.size());
        for (MemorySample sample : samples) {
            Listed listed = byGpu.computeIfPresent(
                    sample.gpu().selector(), (name, before) -> before.withCurrentTerms(sources, now));
            long listedAt = listed == null ? 0 : listed.listedAtNanos;
            observations.add(new Observed(
                    sample.gpu(),
                    new GpuObservation(
                            sample.gpu().selector(),
                            // A turn reads the memory first and lists the processes then.
                            Math.max(sample.readAtNanos(), listedAt),
                            sample.readAtNanos(),
                            bytes(sample),
                            listed == null ? Reading.absent(Absence.PENDING) : listed.tenants,
                            listedAt)));
        }
        return observations;
    }

    private boolean hasNewList(MemorySample sample) {
        Listed listed = byGpu.get(sample.gpu().selector());
        // The snapshot may name a GPU without a UUID differently, and its memory cannot be read either.
        return sample.listedAtNanos() != 0
                && sample.gpu().uuid() instanceof Reading.Present<?>
                && (listed == null || listed.listedAtNanos != sample.listedAtNanos());
    }

    /** Attributes all GPUs. The snapshot may have a list that is newer than its time here, never an older one. */
    private void attribute(List<MemorySample> samples, long nowNanos) {
        NodeSnapshot node = sampler.snapshot();
        Map<String, GpuMemoryUse> uses = new HashMap<>();
        memory.attribute(node).forEach(use -> uses.put(use.gpu().selector(), use));
        Set<String> present = new HashSet<>();
        for (MemorySample sample : samples) {
            String gpu = sample.gpu().selector();
            GpuMemoryUse use = uses.get(gpu);
            if (use != null && sample.listedAtNanos() != 0) {
                present.add(gpu);
                byGpu.put(gpu, new Listed(use, sample.listedAtNanos(), nowNanos, Tenancy.tenants(use, sources)));
            }
        }
        byGpu.keySet().retainAll(present);
    }

    private static Reading<GpuBytes> bytes(MemorySample sample) {
        if (!sample.gpu().mig().isEmpty()) {
            return Reading.absent(Absence.NOT_SUPPORTED, 0, "the GPU is partitioned (MIG)");
        }
        for (Reading<Long> needed : List.of(sample.total(), sample.used(), sample.free())) {
            if (needed instanceof Reading.Absent<Long> none) {
                return Reading.absent(none.cause(), none.code(), none.detail());
            }
        }
        return Reading.of(new GpuBytes(
                sample.total().asOptional().orElseThrow(),
                sample.reserved().asOptional().orElse(0L),
                sample.used().asOptional().orElseThrow(),
                sample.free().asOptional().orElseThrow()));
    }
}
