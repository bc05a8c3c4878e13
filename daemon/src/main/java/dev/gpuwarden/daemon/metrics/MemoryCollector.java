package dev.gpuwarden.daemon.metrics;

import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.MemoryShare;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** GPU memory by holder, memory without a known holder, and memory of MIG partitions. */
record MemoryCollector(boolean processes) {

    private static final Map<GpuMetric, String> MIG_MEMORY = Map.of(
            GpuMetric.MEMORY_TOTAL, "gpuwarden_mig_memory_total_bytes",
            GpuMetric.MEMORY_RESERVED, "gpuwarden_mig_memory_reserved_bytes",
            GpuMetric.MEMORY_FREE, "gpuwarden_mig_memory_free_bytes",
            GpuMetric.MEMORY_USED, "gpuwarden_mig_memory_used_bytes");

    void collect(Collector.Scrape scrape, Family.Series out) {
        for (GpuMemoryUse gpu : scrape.memory().get()) {
            Labels labels = GpuLabels.of(gpu.gpu());
            present(out, "gpuwarden_gpu_memory_unattributed_bytes", labels, gpu.unattributedBytes());
            present(out, "gpuwarden_gpu_memory_overattributed_bytes", labels, gpu.overattributedBytes());
            if (gpu.uses() instanceof Reading.Present<List<MemoryUse>> uses) {
                out.add("gpuwarden_gpu_processes", labels, uses.value().size());
                owners(gpu, labels, out);
                silent(uses.value(), labels, out);
                if (processes) {
                    processes(uses.value(), labels, out);
                }
            }
        }
        for (GpuSnapshot gpu : scrape.node().gpus()) {
            for (GpuSnapshot.MigSnapshot mig : gpu.mig()) {
                partition(mig.identity(), mig.frame(), GpuLabels.of(gpu.identity()), out);
            }
        }
    }

    private static void owners(GpuMemoryUse gpu, Labels labels, Family.Series out) {
        // A pod that ends and its successor of the same name may hold memory together, under different UIDs.
        Map<Labels, Reading<Long>> pods = new LinkedHashMap<>();
        for (MemoryShare share : MemoryShare.byPod(gpu)) {
            Owner owner = share.owner();
            if (owner instanceof Owner.Pod pod) {
                pods.merge(labels.merge(podLabels(pod)), share.bytes(), MemoryCollector::sum);
            } else if (owner instanceof Owner.Unit unit) {
                present(out, "gpuwarden_unit_memory_used_bytes", labels.add("unit", unit.name()), share.bytes());
            } else if (owner instanceof Owner.SlurmJob job) {
                present(
                        out,
                        "gpuwarden_slurm_job_memory_used_bytes",
                        labels.merge(Labels.of("job_id", job.jobId(), "step", job.step())),
                        share.bytes());
            } else if (owner instanceof Owner.BatchJob job) {
                present(
                        out,
                        "gpuwarden_batch_job_memory_used_bytes",
                        labels.merge(Labels.of("system", job.system(), "job_id", job.jobId())),
                        share.bytes());
            } else if (owner instanceof Owner.Guest guest) {
                present(
                        out,
                        "gpuwarden_guest_memory_used_bytes",
                        labels.merge(Labels.of("type", guest.type(), "name", guest.name())),
                        share.bytes());
            } else if (owner instanceof Owner.Unknown unknown) {
                present(
                        out,
                        "gpuwarden_unknown_owner_memory_used_bytes",
                        labels.add("cause", unknown.cause()),
                        share.bytes());
            }
        }
        pods.forEach((own, bytes) -> present(out, "gpu_pod_memory_used_bytes", own, bytes));
        for (MemoryShare share : MemoryShare.byContainer(gpu)) {
            if (share.owner() instanceof Owner.Container container) {
                Labels own = Labels.of(
                        "container_id", container.containerId(),
                        "runtime", container.runtime(),
                        "namespace", "",
                        "pod", "",
                        "container", "");
                present(out, "gpuwarden_container_memory_used_bytes", labels.merge(own), share.bytes());
            } else if (share.owner() instanceof Owner.Pod pod) {
                Labels own = podLabels(pod)
                        .merge(Labels.of(
                                "container_id", GpuCollector.text(pod.containerId()),
                                "runtime", "",
                                "container", GpuCollector.text(pod.container())));
                present(out, "gpuwarden_container_memory_used_bytes", labels.merge(own), share.bytes());
            }
        }
    }

    private static Reading<Long> sum(Reading<Long> a, Reading<Long> b) {
        return a instanceof Reading.Present<Long> known ? b.map(bytes -> bytes + known.value()) : a;
    }

    private static Labels podLabels(Owner.Pod pod) {
        return Labels.of(
                "namespace", GpuCollector.text(pod.namespace()),
                "pod", pod.name().asOptional().orElse(pod.uid()));
    }

    private static void silent(List<MemoryUse> uses, Labels labels, Family.Series out) {
        Map<String, Long> byCause = new TreeMap<>();
        for (MemoryUse use : uses) {
            if (use.usedBytes() instanceof Reading.Absent<Long> absent) {
                byCause.merge(absent.cause().label(), 1L, Long::sum);
            }
        }
        byCause.forEach(
                (cause, count) -> out.add("gpuwarden_gpu_processes_memory_absent", labels.add("cause", cause), count));
    }

    private static void processes(List<MemoryUse> uses, Labels labels, Family.Series out) {
        for (MemoryUse use : uses) {
            Labels own = Labels.of(
                    "pid", Integer.toString(use.process().pid()),
                    "command", GpuCollector.text(use.command()),
                    "gi", GpuCollector.text(use.process().gpuInstance()),
                    "ci", GpuCollector.text(use.process().computeInstance()));
            present(out, "gpuwarden_process_memory_used_bytes", labels.merge(own), use.usedBytes());
        }
    }

    private static void partition(MigDevice mig, GpuFrame frame, Labels gpu, Family.Series out) {
        Labels labels = gpu.merge(Labels.of(
                "mig_uuid", mig.uuid(),
                "gi", GpuCollector.text(mig.gpuInstance()),
                "ci", GpuCollector.text(mig.computeInstance())));
        out.add("gpuwarden_mig", labels.add("profile", GpuCollector.text(mig.profile())), 1);
        MIG_MEMORY.forEach((metric, family) -> {
            if (frame.present(metric)) {
                out.add(family, labels, frame.raw(metric));
            } else {
                String cause = frame.absence(GpuFrame.slot(metric)).label();
                out.add(
                        "gpuwarden_mig_reading_absent",
                        labels.merge(Labels.of("reading", metric.label(), "cause", cause)),
                        1);
            }
        });
    }

    private static void present(Family.Series out, String family, Labels labels, Reading<Long> value) {
        if (value instanceof Reading.Present<Long> bytes) {
            out.add(family, labels, bytes.value());
        }
    }
}
