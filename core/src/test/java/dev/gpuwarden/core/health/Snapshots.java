package dev.gpuwarden.core.health;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverInfo;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Snapshots for tests: a healthy node, and what each test changes of it. */
public final class Snapshots {

    public static final DriverInfo INFO = new DriverInfo(
            "nvml",
            Reading.of("/usr/lib/libnvidia-ml.so.1"),
            Reading.of("12.550.163.01"),
            Reading.of("550.163.01"),
            Reading.of("12.4"),
            "jni");

    private Snapshots() {}

    public static String uuid(int index) {
        return "GPU-00000000-0000-0000-0000-00000000000" + index;
    }

    public static PciAddress pci(int index) {
        return new PciAddress(0, 0x10 + index, 0, 0);
    }

    public static GpuIdentity identity(int index) {
        return new GpuIdentity(
                index,
                Reading.of(uuid(index)),
                Reading.of(pci(index)),
                Reading.of(index),
                Reading.of("NVIDIA H100 80GB HBM3"),
                Reading.of("165000000000" + index),
                Reading.of("96.00.74.00.01"),
                Reading.of("2619"),
                Reading.of("9.0"),
                Reading.of(0),
                Reading.of(false),
                List.of(),
                Reading.of(List.of()));
    }

    /** A GPU without an identity. */
    public static GpuIdentity anonymous(int index) {
        return new GpuIdentity(
                index, lost(), lost(), lost(), lost(), lost(), lost(), lost(), lost(), lost(), lost(), List.of(),
                lost());
    }

    private static <T> Reading<T> lost() {
        return Reading.absent(Absence.GPU_LOST, 15, "");
    }

    public static GpuSnapshot gpu(int index, GpuState state, Consumer<GpuFrame> change) {
        return gpu(identity(index), state, change);
    }

    public static GpuSnapshot gpu(GpuIdentity identity, GpuState state, Consumer<GpuFrame> change) {
        GpuFrame frame = new GpuFrame();
        frame.put(GpuFrame.slot(GpuMetric.TEMPERATURE), 41);
        frame.put(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), 0);
        change.accept(frame);
        return new GpuSnapshot(
                identity, state, "", frame, Reading.of(1L), Reading.of(List.of()), Reading.of(1L), 0, List.of());
    }

    public static GpuSnapshot healthy(int index) {
        return gpu(index, GpuState.ANSWERING, frame -> {});
    }

    public static NodeSnapshot running(int onBus, GpuSnapshot... gpus) {
        return new NodeSnapshot(new DriverState.Running(INFO), bus(onBus), List.of(gpus));
    }

    public static NodeSnapshot without(Reason reason, int code, Reading<List<PciAddress>> bus) {
        return new NodeSnapshot(new DriverState.Unavailable(reason, code, "libnvidia-ml.so.1"), bus, List.of());
    }

    /** The first GPUs' addresses. */
    public static Reading<List<PciAddress>> bus(int gpus) {
        List<PciAddress> addresses = new ArrayList<>();
        for (int i = 0; i < gpus; i++) {
            addresses.add(pci(i));
        }
        return Reading.of(List.copyOf(addresses));
    }

    public static Reading<List<PciAddress>> unreadableBus() {
        return Reading.absent(Absence.NO_PERMISSION, 0, "/sys/bus/pci/devices");
    }
}
