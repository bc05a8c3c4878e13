package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** The GPUs that an initialised library lists for this process. */
public final class CudaDevices {

    private static final int UUID_BYTES = 16;
    private static final HexFormat HEX = HexFormat.of();

    private CudaDevices() {}

    /**
     * A GPU.
     *
     * @param device the library's number for later calls
     * @param uuid UUID in NVML's form
     */
    public record Device(int device, String uuid) {}

    /** Returns the GPUs in the library's order. */
    public static List<Device> list(CudaLibrary library) throws CudaException {
        List<Device> devices = new ArrayList<>();
        try (NativeMemory out = NativeMemory.allocate(UUID_BYTES)) {
            library.require(CudaSymbol.DEVICE_COUNT, out.address());
            int count = out.buffer().getInt(0);
            for (int ordinal = 0; ordinal < count; ordinal++) {
                library.require(CudaSymbol.DEVICE, out.address(), ordinal);
                int device = out.buffer().getInt(0);
                library.require(CudaSymbol.DEVICE_UUID, out.address(), device);
                byte[] bytes = new byte[UUID_BYTES];
                out.buffer().get(0, bytes);
                devices.add(new Device(device, uuid(bytes)));
            }
        }
        return devices;
    }

    /** Returns the UUID in the form of NVML: "GPU-" and five groups of hex digits. */
    private static String uuid(byte[] bytes) {
        String hex = HEX.formatHex(bytes);
        return "GPU-" + hex.substring(0, 8) + "-" + hex.substring(8, 12) + "-" + hex.substring(12, 16) + "-"
                + hex.substring(16, 20) + "-" + hex.substring(20);
    }
}
