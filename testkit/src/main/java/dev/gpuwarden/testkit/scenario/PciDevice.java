package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.testkit.scenario.YamlNode.Fields;

/**
 * A device on the PCI bus beside the GPUs that the driver lists.
 *
 * @param classCode 24 bits: 0x030200 is a 3D controller, 0x068000 an NVSwitch
 */
public record PciDevice(PciAddress address, int vendor, int device, int classCode) {

    static PciDevice read(YamlNode node) {
        Fields f = node.fields("address", "vendor", "device", "class");
        YamlNode address = f.require("address");
        return new PciDevice(
                PciAddress.parse(address.text()).orElseThrow(() -> address.problem("a PCI address")),
                f.read("vendor", 0x10de, vendor -> number(vendor, 0xffff)),
                f.read("device", 0x2330, device -> number(device, 0xffff)),
                f.read("class", 0x030200, code -> number(code, 0xffffff)));
    }

    private static int number(YamlNode node, int max) {
        if (Form.of("number").parse(node.text()).orElse(new Value.Absent()) instanceof Value.Numbers n
                && n.numbers().get(0) >= 0
                && n.numbers().get(0) <= max) {
            return n.numbers().get(0).intValue();
        }
        throw node.problem("a number up to 0x" + Integer.toHexString(max));
    }
}
