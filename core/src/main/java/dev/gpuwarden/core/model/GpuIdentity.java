package dev.gpuwarden.core.model;

import java.util.List;
import java.util.Optional;

/**
 * The identity of a GPU, read once when it is enumerated.
 *
 * @param index the driver's index, which follows PCI order and changes when a GPU falls off the bus; the UUID does
 *     not
 * @param uuid "GPU-" and 36 characters; absent where the GPU was lost before it was read
 * @param minor the N of /dev/nvidiaN
 * @param name the product name, for example "NVIDIA H100 80GB HBM3"
 * @param serial the board's serial number
 * @param vbios version of the video BIOS
 * @param boardPart board part number
 * @param computeCapability for example "9.0"
 * @param numaNode the NUMA node of the device
 * @param migMode true where the GPU is partitioned
 * @param mig the partitions; empty where there are none
 * @param nvlinks the other ends of its NVLinks; read only where they decide which GPUs are reset together
 */
public record GpuIdentity(
        int index,
        Reading<String> uuid,
        Reading<PciAddress> pci,
        Reading<Integer> minor,
        Reading<String> name,
        Reading<String> serial,
        Reading<String> vbios,
        Reading<String> boardPart,
        Reading<String> computeCapability,
        Reading<Integer> numaNode,
        Reading<Boolean> migMode,
        List<MigDevice> mig,
        Reading<List<NvLinkPeer>> nvlinks) {

    public GpuIdentity {
        uuid = uuid.map(Identifiers::gpu);
    }

    /**
     * Returns a GPU with nothing known but its index.
     *
     * @param why cause of all absences
     */
    public static GpuIdentity unknown(int index, Reading.Absent<?> why) {
        return new GpuIdentity(
                index, same(why), same(why), same(why), same(why), same(why), same(why), same(why), same(why),
                same(why), same(why), List.of(), same(why));
    }

    private static <T> Reading<T> same(Reading.Absent<?> why) {
        return Reading.absent(why.cause(), why.code(), why.detail());
    }

    /**
     * Returns the GPU's name in messages: "GPU 4 (0000:89:00.0)"; with the UUID where the address is unknown, with
     * neither where both are.
     */
    public String label() {
        return label(index, pci.asOptional(), uuid.asOptional());
    }

    /** The same, of a GPU that another program reports. */
    public static String label(int index, Optional<PciAddress> pci, Optional<String> uuid) {
        return "GPU " + index
                + pci.map(PciAddress::toString)
                        .or(() -> uuid)
                        .map(name -> " (" + name + ")")
                        .orElse("");
    }

    /** Returns true if the text is its index, its UUID or its PCI address, in any form of {@link Identifiers}. */
    public boolean isNamed(String text) {
        String name = text.strip();
        Optional<PciAddress> address = PciAddress.parse(name);
        return uuid.asOptional().equals(Optional.of(Identifiers.gpu(name)))
                || address.isPresent() && pci.asOptional().equals(address)
                || Integer.toString(index).equals(name);
    }

    /** Returns UUID, else PCI address, else index: names that programs and `nvidia-smi -i` accept. */
    public String selector() {
        return uuid.asOptional()
                .orElseGet(() -> pci.asOptional().map(PciAddress::toString).orElse(Integer.toString(index)));
    }

    /**
     * One MIG partition of a GPU.
     *
     * @param uuid "MIG-" and 36 characters from driver 470 on
     * @param profile for example "1g.10gb"
     */
    public record MigDevice(
            int index,
            String uuid,
            Reading<Integer> gpuInstance,
            Reading<Integer> computeInstance,
            Reading<String> profile) {

        public MigDevice {
            uuid = Identifiers.gpu(uuid);
        }
    }
}
