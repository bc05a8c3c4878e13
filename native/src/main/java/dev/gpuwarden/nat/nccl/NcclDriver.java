package dev.gpuwarden.nat.nccl;

import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveException.Kind;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.nat.cuda.CudaConstant;
import dev.gpuwarden.nat.cuda.CudaDevices;
import dev.gpuwarden.nat.cuda.CudaDevices.Device;
import dev.gpuwarden.nat.cuda.CudaException;
import dev.gpuwarden.nat.cuda.CudaLibrary;
import dev.gpuwarden.nat.cuda.CudaSymbol;
import dev.gpuwarden.nat.lib.CText;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** NVIDIA's library of collectives with the GPUs that the driver lists for this process. */
record NcclDriver(NcclLibrary library, int version, CudaLibrary cuda, List<Device> devices, List<Gpu> gpus)
        implements CollectiveDriver {

    private static final int NAME_BYTES = 256;
    private static final int PCI_BYTES = 32;

    static NcclDriver of(NcclLibrary library, int version, CudaLibrary cuda) throws CudaException {
        List<Device> devices = CudaDevices.list(cuda);
        List<Gpu> gpus = new ArrayList<>();
        try (NativeMemory out = NativeMemory.allocate(NAME_BYTES)) {
            for (Device device : devices) {
                gpus.add(gpu(gpus.size(), device, cuda, out));
            }
        }
        return new NcclDriver(library, version, cuda, devices, List.copyOf(gpus));
    }

    private static Gpu gpu(int ordinal, Device device, CudaLibrary cuda, NativeMemory out) throws CudaException {
        cuda.require(CudaSymbol.DEVICE_NAME, out.address(), NAME_BYTES, device.device());
        String name = CText.decode(out.buffer(), 0, NAME_BYTES);
        cuda.require(CudaSymbol.DEVICE_PCI, out.address(), PCI_BYTES, device.device());
        String address = CText.decode(out.buffer(), 0, PCI_BYTES).toLowerCase(Locale.ROOT);
        cuda.require(CudaSymbol.DEVICE_MEMORY, out.address(), device.device());
        long bytes = out.buffer().getLong(0);
        int capability = 10 * attribute(CudaConstant.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device, cuda, out)
                + attribute(CudaConstant.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device, cuda, out);
        return new Gpu(ordinal, device.uuid(), name, withoutFunction(address), bytes, capability);
    }

    private static int attribute(CudaConstant attribute, Device device, CudaLibrary cuda, NativeMemory out)
            throws CudaException {
        cuda.require(CudaSymbol.DEVICE_ATTRIBUTE, out.address(), attribute.number(), device.device());
        return out.buffer().getInt(0);
    }

    private static String withoutFunction(String address) {
        int dot = address.lastIndexOf('.');
        return dot < 0 ? address : address.substring(0, dot);
    }

    @Override
    public String libraryPath() {
        return library.path();
    }

    @Override
    public byte[] newUniqueId() throws CollectiveException {
        return uniqueId(library);
    }

    static byte[] uniqueId(NcclLibrary library) throws CollectiveException {
        try (NativeMemory out = NativeMemory.allocate(UNIQUE_ID_BYTES)) {
            int result = library.call(NcclSymbol.UNIQUE_ID, out.address());
            if (result != NcclResult.SUCCESS) {
                throw library.failure(NcclSymbol.UNIQUE_ID, result, 0);
            }
            byte[] id = new byte[UNIQUE_ID_BYTES];
            out.buffer().get(0, id);
            return id;
        }
    }

    @Override
    public Communicator join(Member member) throws CollectiveException {
        if (member.ctaPolicy().isPresent() && version < NcclConfig.LONGER) {
            throw new CollectiveException(
                    Kind.NOT_SUPPORTED,
                    0,
                    "a CTA policy needs NCCL 2.27, and " + libraryPath() + " is " + versionText());
        }
        GpuStream stream = GpuStream.open(cuda, devices.get(member.ordinal()).device(), member.defaultStream());
        try {
            long free = stream.freeBytes();
            NcclComm comm = NcclComm.join(library, member);
            return new NcclCommunicator(library, comm, stream, free - stream.freeBytes());
        } catch (CollectiveException e) {
            stream.leave();
            throw e;
        }
    }
}
