package dev.gpuwarden.checks;

import dev.gpuwarden.checks.process.NodeMemory;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryAttribution;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/** Hand-made nodes: every reading present, with a different value for each. */
public final class NodeFixture {

    private NodeFixture() {}

    public static NodeSnapshot node(int gpus) {
        List<GpuSnapshot> list = new ArrayList<>();
        for (int i = 0; i < gpus; i++) {
            list.add(gpu(i));
        }
        return node(list);
    }

    public static NodeSnapshot node(List<GpuSnapshot> gpus) {
        DriverInfo info = new DriverInfo(
                "nvml",
                Reading.of("/usr/lib/libnvidia-ml.so.1"),
                Reading.of("12.550.163.01"),
                Reading.of("550.163.01"),
                Reading.of("12.4"),
                "jni");
        return new NodeSnapshot(
                new NodeSnapshot.DriverState.Running(info),
                Reading.of(gpus.stream()
                        .map(g -> g.identity().pci().asOptional().orElseThrow())
                        .toList()),
                gpus);
    }

    public static GpuIdentity identity(int index) {
        return new GpuIdentity(
                index,
                Reading.of(String.format("GPU-00000000-0000-0000-0000-%012d", index)),
                Reading.of(new PciAddress(0, 0x1b + index, 0, 0)),
                Reading.of(index),
                Reading.of("NVIDIA H100 80GB HBM3"),
                Reading.of("165212300" + index),
                Reading.of("96.00.61.00.01"),
                Reading.of("692-2G520-0200-000"),
                Reading.of("9.0"),
                Reading.of(index / 4),
                Reading.of(false),
                List.of(),
                Reading.of(List.of()));
    }

    public static GpuSnapshot gpu(int index) {
        return gpu(index, GpuState.ANSWERING, frame(), List.of());
    }

    public static GpuSnapshot gpu(int index, GpuState state, GpuFrame frame, List<GpuProcess> processes) {
        return new GpuSnapshot(
                identity(index),
                state,
                state == GpuState.ANSWERING ? "" : "for this test",
                frame,
                Reading.of(500_000_000L),
                Reading.of(processes),
                Reading.of(4_000_000_000L),
                0,
                List.of());
    }

    /** Every reading of an H100 with 18 links. */
    public static GpuFrame frame() {
        GpuFrame frame = new GpuFrame();
        for (int i = 0; i < GpuMetric.count(); i++) {
            frame.put(i, 0);
        }
        put(frame, GpuMetric.MEMORY_TOTAL, 85_520_809_984L);
        put(frame, GpuMetric.MEMORY_RESERVED, 578_000_000L);
        put(frame, GpuMetric.MEMORY_USED, 42_000_000_000L);
        put(frame, GpuMetric.MEMORY_FREE, 85_520_809_984L - 578_000_000L - 42_000_000_000L);
        put(frame, GpuMetric.TEMPERATURE, 41);
        put(frame, GpuMetric.POWER_USAGE, 345_678);
        put(frame, GpuMetric.UTILIZATION_GPU, 97);
        put(frame, GpuMetric.CLOCK_EVENT_REASONS, 0x4);
        put(frame, GpuMetric.CLOCK_SM, 1980);
        put(frame, GpuMetric.ENERGY, 123_456_789_012L);
        put(frame, GpuMetric.VIOLATION_POWER, 1_500_000_000L);
        put(frame, GpuMetric.NVLINK_LINKS, 18);
        put(frame, GpuMetric.NVLINK_TRANSMITTED, 1024);
        for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
            for (LinkMetric metric : LinkMetric.values()) {
                int slot = GpuFrame.slot(metric, link);
                if (link >= 18) {
                    frame.putAbsent(slot, Absence.NOT_SUPPORTED, 3);
                } else if (metric == LinkMetric.SPEED) {
                    frame.put(slot, 26_562);
                } else {
                    frame.put(slot, metric == LinkMetric.STATE ? 1 : 0);
                }
            }
        }
        frame.sampled(Cadence.FAST, 1_000, 2_001_000, 20);
        frame.sampled(Cadence.SLOW, 1_000, 9_001_000, 60);
        return frame;
    }

    public static void put(GpuFrame frame, GpuMetric metric, long raw) {
        frame.put(GpuFrame.slot(metric), raw);
    }

    public static GpuProcess process(int pid, long bytes) {
        Reading<Integer> none = Reading.absent(Absence.NOT_SUPPORTED);
        return new GpuProcess(pid, GpuProcess.Type.COMPUTE, Reading.of(bytes), none, none);
    }

    public static Owner.Pod pod(String namespace, String name, String container) {
        String id = String.format("%064x", (namespace + name + container).hashCode() & 0xffff_ffffL);
        return new Owner.Pod(
                "uid-" + name, Reading.of(namespace), Reading.of(name), Reading.of(container), Reading.of(id));
    }

    /** Returns the attribution of memory with the owners from {@code owners}; every command is "cmd". */
    public static List<GpuMemoryUse> memory(NodeSnapshot node, IntFunction<Owner> owners) {
        return node.gpus().stream()
                .map(gpu -> MemoryAttribution.attribute(
                        gpu.identity(),
                        NodeMemory.memory(gpu.frame()),
                        gpu.processes(),
                        pid -> new ProcessFacts(Reading.of(1L), Reading.of("cmd"), owners.apply(pid))))
                .toList();
    }

    public static NodeSnapshot map(NodeSnapshot node, UnaryOperator<GpuSnapshot> change) {
        return node(node.gpus().stream().map(change).toList());
    }
}
