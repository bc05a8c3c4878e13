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
final class MemoryCollector implements Collector {

    private static final String BYTES = "bytes";
    private static final Family POD = Family.gauge(
            "gpu_pod_memory_used",
            BYTES,
            "GPU memory held by the processes of a pod; if the node has no name for the pod, the name is its UID.");
    private static final Family CONTAINER =
            Family.gauge("gpuwarden_container_memory_used", BYTES, "GPU memory held by the processes of a container.");
    private static final Family UNIT =
            Family.gauge("gpuwarden_unit_memory_used", BYTES, "GPU memory held by the processes of a systemd unit.");
    private static final Family JOB =
            Family.gauge("gpuwarden_slurm_job_memory_used", BYTES, "GPU memory held by the processes of a Slurm job.");
    private static final Family UNKNOWN = Family.gauge(
            "gpuwarden_unknown_owner_memory_used",
            BYTES,
            "GPU memory held by processes with an unknown owner, by cause.");
    private static final Family PROCESS =
            Family.gauge("gpuwarden_process_memory_used", BYTES, "GPU memory held by a process.");
    private static final Family PROCESSES = Family.gauge("gpuwarden_gpu_processes", "Processes that hold the GPU.");
    private static final Family SILENT = Family.gauge(
            "gpuwarden_gpu_processes_memory_absent",
            "Processes whose memory the driver does not report, by cause; sums of their owners are left out.");
    private static final Family UNATTRIBUTED = Family.gauge(
            "gpuwarden_gpu_memory_unattributed", BYTES, "Memory in use that is not attributed to a process.");
    private static final Family OVERATTRIBUTED = Family.gauge(
            "gpuwarden_gpu_memory_overattributed", BYTES, "Memory that processes claim beyond what is in use.");
    private static final Family MIG_INFO = Family.info("gpuwarden_mig", "Identity of the MIG partition.");
    private static final Map<GpuMetric, Family> MIG_MEMORY = Map.of(
            GpuMetric.MEMORY_TOTAL, Family.gauge("gpuwarden_mig_memory_total", BYTES, "Memory of the partition."),
            GpuMetric.MEMORY_RESERVED,
                    Family.gauge("gpuwarden_mig_memory_reserved", BYTES, "Memory reserved by the driver."),
            GpuMetric.MEMORY_FREE, Family.gauge("gpuwarden_mig_memory_free", BYTES, "Free memory."),
            GpuMetric.MEMORY_USED, Family.gauge("gpuwarden_mig_memory_used", BYTES, "Memory in use."));
    private static final Family MIG_ABSENT = Family.gauge(
            "gpuwarden_mig_reading_absent", "1 for each absent memory reading of a partition, with the cause.");

    private final boolean processes;

    MemoryCollector(boolean processes) {
        this.processes = processes;
    }

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public void collect(Scrape scrape, Family.Series out) {
        for (GpuMemoryUse gpu : scrape.memory().get()) {
            Labels labels = GpuLabels.of(gpu.gpu());
            present(out, UNATTRIBUTED, labels, gpu.unattributedBytes());
            present(out, OVERATTRIBUTED, labels, gpu.overattributedBytes());
            if (gpu.uses() instanceof Reading.Present<List<MemoryUse>> uses) {
                out.add(PROCESSES, labels, uses.value().size());
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
                present(out, UNIT, labels.add("unit", unit.name()), share.bytes());
            } else if (owner instanceof Owner.SlurmJob job) {
                present(out, JOB, labels.merge(Labels.of("job_id", job.jobId(), "step", job.step())), share.bytes());
            } else if (owner instanceof Owner.Unknown unknown) {
                present(out, UNKNOWN, labels.add("cause", unknown.cause()), share.bytes());
            }
        }
        pods.forEach((own, bytes) -> present(out, POD, own, bytes));
        for (MemoryShare share : MemoryShare.byContainer(gpu)) {
            if (share.owner() instanceof Owner.Container container) {
                Labels own = Labels.of(
                        "container_id", container.containerId(),
                        "runtime", container.runtime(),
                        "namespace", "",
                        "pod", "",
                        "container", "");
                present(out, CONTAINER, labels.merge(own), share.bytes());
            } else if (share.owner() instanceof Owner.Pod pod) {
                Labels own = podLabels(pod)
                        .merge(Labels.of(
                                "container_id", GpuCollector.text(pod.containerId()),
                                "runtime", "",
                                "container", GpuCollector.text(pod.container())));
                present(out, CONTAINER, labels.merge(own), share.bytes());
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
        byCause.forEach((cause, count) -> out.add(SILENT, labels.add("cause", cause), count));
    }

    private static void processes(List<MemoryUse> uses, Labels labels, Family.Series out) {
        for (MemoryUse use : uses) {
            Labels own = Labels.of(
                    "pid", Integer.toString(use.process().pid()),
                    "command", GpuCollector.text(use.command()),
                    "gi", GpuCollector.text(use.process().gpuInstance()),
                    "ci", GpuCollector.text(use.process().computeInstance()));
            present(out, PROCESS, labels.merge(own), use.usedBytes());
        }
    }

    private static void partition(MigDevice mig, GpuFrame frame, Labels gpu, Family.Series out) {
        Labels labels = gpu.merge(Labels.of(
                "mig_uuid", mig.uuid(),
                "gi", GpuCollector.text(mig.gpuInstance()),
                "ci", GpuCollector.text(mig.computeInstance())));
        out.add(MIG_INFO, labels.add("profile", GpuCollector.text(mig.profile())), 1);
        MIG_MEMORY.forEach((metric, family) -> {
            if (frame.present(metric)) {
                out.add(family, labels, frame.raw(metric));
            } else {
                String cause = frame.absence(GpuFrame.slot(metric)).label();
                out.add(MIG_ABSENT, labels.merge(Labels.of("reading", metric.label(), "cause", cause)), 1);
            }
        });
    }

    private static void present(Family.Series out, Family family, Labels labels, Reading<Long> value) {
        if (value instanceof Reading.Present<Long> bytes) {
            out.add(family, labels, bytes.value());
        }
    }
}
