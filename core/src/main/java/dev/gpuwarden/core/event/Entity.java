package dev.gpuwarden.core.event;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * A part of the node that an event is about.
 *
 * @param type "PCI", "GPU_UUID", "NVLINK", "NIC" or another name that a sender uses; case-sensitive
 * @param value for PCI the address without function, `0000:3b:00`, as the kernel log writes it
 */
public record Entity(String type, String value) {

    private static final Pattern UUID =
            Pattern.compile("(GPU|MIG)-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", Pattern.CASE_INSENSITIVE);

    /** Characters of "GPU" and "MIG". */
    private static final int PREFIX = 3;

    public static final String PCI = "PCI";
    public static final String GPU_UUID = "GPU_UUID";
    /** The driver's index, for a GPU without a better name. The index changes when another GPU falls off the bus. */
    public static final String GPU_INDEX = "GPU";

    /** Stands for "the check as a whole" where an event names no entity. */
    public static final Entity WHOLE = new Entity("", "");

    public static Entity pci(dev.gpuwarden.core.model.PciAddress address) {
        String text = address.toString();
        return new Entity(PCI, text.substring(0, text.length() - 2));
    }

    public static Entity gpu(String uuid) {
        return new Entity(GPU_UUID, uuid);
    }

    public static Entity gpuIndex(int index) {
        return new Entity(GPU_INDEX, Integer.toString(index));
    }

    /**
     * Returns a GPU's or MIG device's UUID in the drivers' spelling, so that names of one part are equal whatever
     * case a sender uses. Other entities are returned unchanged.
     */
    public Entity canonical() {
        if (!type.equals(GPU_UUID) || !UUID.matcher(value).matches()) {
            return this;
        }
        String small = value.toLowerCase(Locale.ROOT);
        return new Entity(type, small.substring(0, PREFIX).toUpperCase(Locale.ROOT) + small.substring(PREFIX));
    }

    /** Returns true for a name of a GPU. All GPU names in one event belong to the same GPU. */
    public boolean namesGpu() {
        return type.equals(PCI) || type.equals(GPU_UUID);
    }
}
