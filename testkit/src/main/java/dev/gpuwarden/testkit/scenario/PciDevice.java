package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;

/**
 * A device on the PCI bus beside the GPUs that the driver lists.
 *
 * @param classCode 24 bits: 0x030200 is a 3D controller, 0x068000 an NVSwitch
 */
public record PciDevice(PciAddress address, int vendor, int device, int classCode) {}
