package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.GpuIdentity.MigDevice;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.model.Reading.Absent;
import dev.gpuwarden.core.model.Reading.Present;
import dev.gpuwarden.core.node.ResetUnitRule;
import dev.gpuwarden.nat.lib.CText;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A reader of the list and the identities of GPUs. */
public final class GpuReader {

    // nvml.h 13.3: NVML_DEVICE_UUID_V2_BUFFER_SIZE, NAME_V2, SERIAL, VBIOS_VERSION, PART_NUMBER.
    private static final int UUID_BYTES = 96;
    private static final int NAME_BYTES = 96;
    private static final int SERIAL_BYTES = 30;
    private static final int VBIOS_BYTES = 32;
    private static final int PART_BYTES = 80;

    /** Limit on GPUs, above that of any machine: a larger count is false and would cost a call for each. */
    private static final int MAX_GPUS = 1024;

    /** Limit on partitions, above that of any GPU (7 in nvml.h 13.3). */
    private static final int MAX_MIG = 64;

    private final NvmlSession session;
    private final NvmlLibrary library;
    private final RefusalLog refusals;

    public GpuReader(NvmlSession session, RefusalLog refusals) {
        this.session = session;
        this.library = session.library();
        this.refusals = refusals;
    }

    public GpuIdentity identify(int index) {
        Reading<Long> handle = session.handle(index);
        return handle instanceof Present<Long> present
                ? identity(index, present.value())
                : GpuIdentity.unknown(index, (Absent<Long>) handle);
    }

    /**
     * Returns the UUID. One with other than printable ASCII is refused, since all other data has the UUID as its key.
     * Names are only displayed, after cleaning.
     */
    Reading<String> uuid(long device, String subject) {
        Reading<String> uuid = library.text(NvmlSymbol.UUID, device, UUID_BYTES);
        if (uuid instanceof Present<String> present && !CText.isPlain(present.value())) {
            refusals.add(NvmlSymbol.UUID, subject, present.value());
            return Reading.absent(Absence.IMPLAUSIBLE, 0, NvmlSymbol.UUID.symbol());
        }
        return uuid;
    }

    /** Returns whether this GPU is partitioned. */
    Reading<Boolean> migMode(long device) {
        return pair(NvmlSymbol.MIG_MODE, device).map(modes -> modes[0] == 1);
    }

    /** Returns the partitions; gaps in the numbering are skipped, as the library requires. */
    List<MigDevice> migDevices(long device) {
        List<MigDevice> found = new ArrayList<>();
        int slots =
                library.number(NvmlSymbol.MIG_MAX_COUNT, device).asOptional().orElse(0);
        for (int index = 0; index < Math.min(slots, MAX_MIG); index++) {
            Optional<Long> handle = session.migHandle(device, index).asOptional();
            if (handle.isPresent()) {
                int at = index;
                uuid(handle.get(), "MIG device " + index)
                        .asOptional()
                        .ifPresent(uuid -> found.add(migDevice(at, handle.get(), uuid)));
            }
        }
        return List.copyOf(found);
    }

    public Reading<Integer> count() {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int code = library.call(NvmlSymbol.COUNT, "p", out.address());
            int count = out.buffer().getInt(0);
            if (code != NvmlReturn.SUCCESS) {
                return library.absent(NvmlSymbol.COUNT, code);
            }
            if (count < 0 || count > MAX_GPUS) {
                refusals.add(NvmlSymbol.COUNT, "node", Integer.toUnsignedString(count) + " GPUs");
                return Reading.absent(Absence.IMPLAUSIBLE, 0, NvmlSymbol.COUNT.symbol());
            }
            return Reading.of(count);
        }
    }

    private GpuIdentity identity(int index, long device) {
        Reading<Boolean> migMode = migMode(device);
        Reading<String> capability = pair(NvmlSymbol.COMPUTE_CAPABILITY, device).map(v -> v[0] + "." + v[1]);
        return new GpuIdentity(
                index,
                uuid(device, "GPU " + index),
                pci(device),
                library.number(NvmlSymbol.MINOR, device),
                library.text(NvmlSymbol.NAME, device, NAME_BYTES),
                library.text(NvmlSymbol.SERIAL, device, SERIAL_BYTES),
                library.text(NvmlSymbol.VBIOS, device, VBIOS_BYTES),
                library.text(NvmlSymbol.BOARD_PART, device, PART_BYTES),
                capability,
                library.number(NvmlSymbol.NUMA_NODE, device),
                migMode,
                migMode.asOptional().orElse(false) ? migDevices(device) : List.of(),
                ResetUnitRule.needsLinks(capability)
                        ? new NvLinkReader(library).peers(device)
                        : Reading.absent(Absence.NO_DATA, 0, "not read: the GPU is reset alone"));
    }

    private Reading<PciAddress> pci(long device) {
        CStruct info = NvmlStructs.of("nvmlPciInfo_t");
        try (NativeMemory out = NativeMemory.allocate(info.size())) {
            int code = library.call(NvmlSymbol.PCI_INFO, "pp", device, out.address());
            if (code != NvmlReturn.SUCCESS) {
                return library.absent(NvmlSymbol.PCI_INFO, code);
            }
            String text = busId(info, out);
            Optional<PciAddress> address = PciAddress.parse(text);
            if (address.isEmpty()) {
                refusals.add(NvmlSymbol.PCI_INFO, "bus id", text);
                return Reading.absent(Absence.IMPLAUSIBLE, 0, NvmlSymbol.PCI_INFO.symbol());
            }
            return Reading.of(address.get());
        }
    }

    static String busId(CStruct info, NativeMemory out) {
        CStruct.Field busId = info.field("busId");
        return CText.decode(out.buffer(), busId.offset(), busId.bytes());
    }

    private Reading<int[]> pair(NvmlSymbol symbol, long device) {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int code = library.call(symbol, "ppp", device, out.address(), out.address() + 4);
            return code == NvmlReturn.SUCCESS
                    ? Reading.of(new int[] {out.buffer().getInt(0), out.buffer().getInt(4)})
                    : library.absent(symbol, code);
        }
    }

    private MigDevice migDevice(int index, long device, String uuid) {
        return new MigDevice(
                index,
                uuid,
                library.number(NvmlSymbol.GPU_INSTANCE_ID, device),
                library.number(NvmlSymbol.COMPUTE_INSTANCE_ID, device),
                profile(device));
    }

    /**
     * Returns the profile from the end of the name ("NVIDIA A100-SXM4-40GB MIG 1g.5gb"), or from the attributes where
     * the name lacks it.
     */
    private Reading<String> profile(long device) {
        Optional<String> name =
                library.text(NvmlSymbol.NAME, device, NAME_BYTES).asOptional();
        int at = name.map(n -> n.lastIndexOf("MIG ")).orElse(-1);
        if (at >= 0) {
            return Reading.of(name.orElseThrow().substring(at + 4));
        }
        CStruct attributes = NvmlStructs.of("nvmlDeviceAttributes_t");
        try (NativeMemory out = NativeMemory.allocate(attributes.size())) {
            int code = library.call(NvmlSymbol.ATTRIBUTES, "pp", device, out.address());
            if (code != NvmlReturn.SUCCESS) {
                return library.absent(NvmlSymbol.ATTRIBUTES, code);
            }
            int slices = out.buffer().getInt(attributes.offset("gpuInstanceSliceCount"));
            long mebibytes = out.buffer().getLong(attributes.offset("memorySizeMB"));
            return Reading.of(slices + "g." + Math.round(mebibytes / 1024.0) + "gb");
        }
    }
}
