package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.testkit.scenario.Board;
import dev.gpuwarden.testkit.scenario.PciDevice;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/** The node's stand-in for /sys/bus/pci: folders under devices/, links to them under bus/pci/devices/, as the kernel has them. */
final class PciFiles {

    /** GT/s by PCIe generation, in the kernel's words. */
    private static final String[] SPEEDS = {
        "Unknown",
        "2.5 GT/s PCIe",
        "5.0 GT/s PCIe",
        "8.0 GT/s PCIe",
        "16.0 GT/s PCIe",
        "32.0 GT/s PCIe",
        "64.0 GT/s PCIe"
    };

    private final Path sys;

    PciFiles(NodeFolder folder) {
        sys = folder.sys();
        Tree.folder(bus());
    }

    private Path bus() {
        return sys.resolve("bus/pci/devices");
    }

    void write(PciDevice device) {
        Path folder = folder(device.address());
        file(folder, "vendor", hex(device.vendor(), 4));
        file(folder, "device", hex(device.device(), 4));
        file(folder, "class", hex(device.classCode(), 6));
        file(folder, "subsystem_vendor", hex(device.vendor(), 4));
        file(folder, "subsystem_device", hex(0, 4));
        file(folder, "numa_node", "-1");
        link(device.address(), folder);
    }

    /** The GPU as its row of the table has it now. */
    void write(SimTable table, String gpu, Board.Slot slot) {
        write(table, gpu);
        Path folder = folder(address(table, gpu));
        file(folder, "numa_node", Integer.toString(slot.numaNode()));
        file(folder, "local_cpulist", slot.firstCpu() + "-" + slot.lastCpu());
    }

    void write(SimTable table, String gpu) {
        PciAddress address = address(table, gpu);
        long id = table.number(gpu + ".pci_device_id");
        long subsystem = table.number(gpu + ".pci_subsystem_id");
        long classCode = table.number(gpu + ".pci_base_class") << 16 | table.number(gpu + ".pci_sub_class") << 8;
        Path folder = folder(address);
        file(folder, "vendor", hex(id & 0xffff, 4));
        file(folder, "device", hex(id >> 16 & 0xffff, 4));
        file(folder, "class", hex(classCode, 6));
        file(folder, "subsystem_vendor", hex(subsystem & 0xffff, 4));
        file(folder, "subsystem_device", hex(subsystem >> 16 & 0xffff, 4));
        file(folder, "current_link_speed", speed(table.number(gpu + ".pcie_gen")));
        file(folder, "max_link_speed", speed(table.number(gpu + ".pcie_gen_max")));
        file(folder, "current_link_width", width(table.number(gpu + ".pcie_width")));
        file(folder, "max_link_width", width(table.number(gpu + ".pcie_width_max")));
        link(address, folder);
    }

    boolean has(PciAddress address) {
        return Files.exists(bus().resolve(address.toString()));
    }

    /** The device now answers at another address. */
    void move(PciAddress from, PciAddress to) {
        if (!from.equals(to)) {
            Tree.folder(bridge(to));
            Tree.move(folder(from), folder(to));
            Tree.delete(bus().resolve(from.toString()));
            link(to, folder(to));
        }
    }

    /** The GPU is no longer on the bus. */
    void remove(SimTable table, String gpu) {
        PciAddress address = address(table, gpu);
        Tree.delete(bus().resolve(address.toString()));
        Tree.delete(folder(address));
    }

    static PciAddress address(SimTable table, String gpu) {
        return new PciAddress(
                (int) table.number(gpu + ".pci_domain"),
                (int) table.number(gpu + ".pci_bus"),
                (int) table.number(gpu + ".pci_device"),
                0);
    }

    private Path folder(PciAddress address) {
        return bridge(address).resolve(address.toString());
    }

    private Path bridge(PciAddress address) {
        String name = String.format(Locale.ROOT, "pci%04x:%02x", address.domain(), address.bus());
        return sys.resolve("devices").resolve(name);
    }

    private void link(PciAddress address, Path folder) {
        Path link = bus().resolve(address.toString());
        Tree.link(link, bus().relativize(folder));
    }

    private static void file(Path folder, String name, String value) {
        Tree.write(folder.resolve(name), value + "\n");
    }

    private static String hex(long number, int digits) {
        return String.format(Locale.ROOT, "0x%0" + digits + "x", number);
    }

    private static String speed(long generation) {
        return generation > 0 && generation < SPEEDS.length ? SPEEDS[(int) generation] : SPEEDS[0];
    }

    private static String width(long lanes) {
        return lanes < 0 ? "0" : Long.toString(lanes);
    }
}
