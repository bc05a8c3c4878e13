package dev.gpuwarden.core.event;

import dev.gpuwarden.core.model.Identifiers;

/**
 * A part of the node that an event is about. UUIDs and PCI addresses have one form, whatever the sender wrote.
 *
 * @param type "PCI", "GPU_UUID", "NVLINK", "NIC" or another name that a sender uses; case-sensitive
 * @param value for PCI the address without function, `0000:3b:00`, as the kernel log writes it
 */
public record Entity(String type, String value) {

    public static final String PCI = "PCI";
    public static final String GPU_UUID = "GPU_UUID";
    /** The driver's index, for a GPU without a better name. The index changes when another GPU falls off the bus. */
    public static final String GPU_INDEX = "GPU";

    /** Stands for "the check as a whole" where an event names no entity. */
    public static final Entity WHOLE = new Entity("", "");

    public Entity {
        value = switch (type) {
            case GPU_UUID -> Identifiers.gpu(value);
            case PCI -> Identifiers.pciSlot(value);
            default -> value;
        };
    }

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

    /** Returns true for a name of a GPU. All GPU names in one event belong to the same GPU. */
    public boolean namesGpu() {
        return type.equals(PCI) || type.equals(GPU_UUID);
    }
}
