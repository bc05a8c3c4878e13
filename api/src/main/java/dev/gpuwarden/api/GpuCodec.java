package dev.gpuwarden.api;

import dev.gpuwarden.api.v1.Gpu;
import dev.gpuwarden.api.v1.GpuView;
import dev.gpuwarden.api.v1.MigPartition;
import dev.gpuwarden.api.v1.NamedReading;
import dev.gpuwarden.api.v1.NvLink;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.core.telemetry.Unit;

/** The codec of GPUs to the wire, in base units. */
public final class GpuCodec {

    private static final EnumCodec<GpuState, dev.gpuwarden.api.v1.GpuState> STATES =
            EnumCodec.of(GpuState.class, dev.gpuwarden.api.v1.GpuState.class, "GPU_STATE_");
    private static final String[] GPU_NAMES = new String[GpuMetric.count()];
    private static final String[] LINK_NAMES = new String[LinkMetric.count()];

    static {
        for (int i = 0; i < GPU_NAMES.length; i++) {
            GPU_NAMES[i] = name(GpuMetric.of(i).label(), GpuMetric.of(i).unit());
        }
        for (int i = 0; i < LINK_NAMES.length; i++) {
            LINK_NAMES[i] = name(LinkMetric.of(i).label(), LinkMetric.of(i).unit());
        }
    }

    private GpuCodec() {}

    public static Gpu toWire(GpuSnapshot gpu, GpuView view) {
        GpuIdentity identity = gpu.identity();
        Gpu.Builder wire = Gpu.newBuilder()
                .setIndex(identity.index())
                .setUuid(ReadingCodec.text(identity.uuid()))
                .setPciAddress(ReadingCodec.text(identity.pci().map(PciAddress::toString)))
                .setState(toWire(gpu.state()))
                .setStateDetail(gpu.detail())
                .setName(ReadingCodec.text(identity.name()))
                .setSerial(ReadingCodec.text(identity.serial()))
                .setVbiosVersion(ReadingCodec.text(identity.vbios()))
                .setBoardPartNumber(ReadingCodec.text(identity.boardPart()))
                .setComputeCapability(ReadingCodec.text(identity.computeCapability()))
                .setMinorNumber(ReadingCodec.integer(identity.minor()))
                .setNumaNode(ReadingCodec.integer(identity.numaNode()))
                .setMigMode(ReadingCodec.flag(identity.migMode()))
                .setSampleAgeSeconds(ReadingCodec.number(gpu.ageNanos().map(nanos -> nanos / 1e9)))
                .setRefusedValues(gpu.refusedValues());
        if (view == GpuView.GPU_VIEW_BASIC) {
            return wire.build();
        }
        for (int i = 0; i < GPU_NAMES.length; i++) {
            wire.addReadings(
                    reading(GPU_NAMES[i], gpu.frame(), i, GpuMetric.of(i).unit()));
        }
        gpu.mig().forEach(partition -> wire.addPartitions(toWire(partition)));
        if (view == GpuView.GPU_VIEW_FULL) {
            for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
                if (read(gpu.frame(), link)) {
                    wire.addLinks(toWire(gpu.frame(), link));
                }
            }
        }
        return wire.build();
    }

    /** Returns a reading's name on the wire, for example "memory_used_bytes". */
    private static String name(String label, Unit unit) {
        return unit.base().isEmpty() ? label : label + "_" + unit.base();
    }

    private static MigPartition toWire(GpuSnapshot.MigSnapshot partition) {
        GpuIdentity.MigDevice identity = partition.identity();
        MigPartition.Builder wire = MigPartition.newBuilder()
                .setIndex(identity.index())
                .setUuid(identity.uuid())
                .setProfile(ReadingCodec.text(identity.profile()))
                .setGpuInstance(ReadingCodec.integer(identity.gpuInstance()))
                .setComputeInstance(ReadingCodec.integer(identity.computeInstance()));
        for (int i = 0; i < GPU_NAMES.length; i++) {
            // The driver reports little but memory for a partition: readings that are never queried are left out.
            if (partition.frame().absence(i) != Absence.PENDING) {
                wire.addReadings(reading(
                        GPU_NAMES[i], partition.frame(), i, GpuMetric.of(i).unit()));
            }
        }
        return wire.build();
    }

    /** Returns whether any reading of the link was read; a link that the GPU lacks has none. */
    private static boolean read(GpuFrame frame, int link) {
        for (int i = 0; i < LINK_NAMES.length; i++) {
            Absence cause = frame.absence(GpuFrame.slot(LinkMetric.of(i), link));
            if (cause != Absence.PENDING && cause != Absence.NOT_SUPPORTED && cause != Absence.NO_SYMBOL) {
                return true;
            }
        }
        return false;
    }

    private static NvLink toWire(GpuFrame frame, int link) {
        NvLink.Builder wire = NvLink.newBuilder().setLink(link);
        for (int i = 0; i < LINK_NAMES.length; i++) {
            LinkMetric metric = LinkMetric.of(i);
            wire.addReadings(reading(LINK_NAMES[i], frame, GpuFrame.slot(metric, link), metric.unit()));
        }
        return wire.build();
    }

    private static NamedReading reading(String name, GpuFrame frame, int slot, Unit unit) {
        NamedReading.Builder wire = NamedReading.newBuilder().setName(name);
        return frame.present(slot)
                ? wire.setValue(unit.toBase(frame.raw(slot))).build()
                : wire.setAbsent(ReadingCodec.absent(frame.absence(slot), frame.code(slot), ""))
                        .build();
    }

    public static dev.gpuwarden.api.v1.GpuState toWire(GpuState state) {
        return STATES.toWire(state);
    }
}
