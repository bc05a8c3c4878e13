package dev.gpuwarden.nat.nvml;

import dev.gpuwarden.core.model.NvLinkPeer;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A reader of the other ends of a GPU's NVLinks. */
record NvLinkReader(NvmlLibrary library) {

    private static final int ACTIVE = 1;

    /** The host bridge of the node: the other end of no link. */
    private static final PciAddress NOWHERE = new PciAddress(0, 0, 0, 0);

    /**
     * Returns the device at the other end of each link. A link without a device is left out.
     *
     * @return absent with the cause if one link cannot be read, since all of them decide together
     */
    Reading<List<NvLinkPeer>> peers(long device) {
        List<NvLinkPeer> peers = new ArrayList<>();
        for (int link = 0; link < LinkMetric.MAX_LINKS; link++) {
            Reading<Integer> state = number(NvmlSymbol.NVLINK_STATE, device, link);
            if (state instanceof Reading.Absent<Integer> absent) {
                if (absent.code() == NvmlReturn.INVALID_ARGUMENT) {
                    break;
                }
                if (absent.code() == NvmlReturn.NOT_SUPPORTED) {
                    continue;
                }
                return Reading.absent(absent.cause(), absent.code(), absent.detail());
            }
            boolean active = state.equals(Reading.of(ACTIVE));
            Reading<PciAddress> address = address(device, link);
            if (address instanceof Reading.Present<PciAddress> present) {
                if (active || !present.value().equals(NOWHERE)) {
                    peers.add(new NvLinkPeer(type(device, link), present.value()));
                }
            } else if (active) {
                return address.map(any -> List.of());
            }
        }
        return Reading.of(List.copyOf(peers));
    }

    private Reading<PciAddress> address(long device, int link) {
        CStruct info = NvmlStructs.of("nvmlPciInfo_t");
        try (NativeMemory out = NativeMemory.allocate(info.size())) {
            int code = library.call(NvmlSymbol.NVLINK_REMOTE_PCI, "pup", device, link, out.address());
            Optional<PciAddress> address =
                    code == NvmlReturn.SUCCESS ? PciAddress.parse(GpuReader.busId(info, out)) : Optional.empty();
            return address.isPresent()
                    ? Reading.of(address.get())
                    : library.absent(
                            NvmlSymbol.NVLINK_REMOTE_PCI, code == NvmlReturn.SUCCESS ? NvmlReturn.UNKNOWN : code);
        }
    }

    /** Returns the kind of device (nvml.h 13.3, nvmlIntNvLinkDeviceType_t). */
    private NvLinkPeer.Type type(long device, int link) {
        return number(NvmlSymbol.NVLINK_REMOTE_TYPE, device, link)
                .map(type -> switch (type) {
                    case 0 -> NvLinkPeer.Type.GPU;
                    case 1 -> NvLinkPeer.Type.OTHER;
                    case 2 -> NvLinkPeer.Type.SWITCH;
                    default -> NvLinkPeer.Type.UNKNOWN;
                })
                .asOptional()
                .orElse(NvLinkPeer.Type.UNKNOWN);
    }

    private Reading<Integer> number(NvmlSymbol symbol, long device, int link) {
        try (NativeMemory out = NativeMemory.allocate(8)) {
            int code = library.call(symbol, "pup", device, link, out.address());
            return code == NvmlReturn.SUCCESS ? Reading.of(out.buffer().getInt(0)) : library.absent(symbol, code);
        }
    }
}
