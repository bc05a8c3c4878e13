package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.testkit.scenario.AerError;
import dev.gpuwarden.testkit.scenario.Board;
import dev.gpuwarden.testkit.scenario.PciDevice;
import dev.gpuwarden.testkit.scenario.Value;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The node's /sys/bus/pci: folders under devices/, links to them under bus/pci/devices/, as in the kernel.
 * Every device that is not on bus 0 is behind a port of its own.
 */
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
    private final Path idle;

    PciFiles(NodeFolder folder) {
        sys = folder.sys;
        idle = folder.idleCounters;
        Tree.folder(bus());
    }

    private Path bus() {
        return sys.resolve("bus/pci/devices");
    }

    void write(PciDevice device) {
        Path folder = create(device.address());
        file(folder, "vendor", hex(device.vendor(), 4));
        file(folder, "device", hex(device.device(), 4));
        file(folder, "class", hex(device.classCode(), 6));
        file(folder, "subsystem_vendor", hex(device.vendor(), 4));
        file(folder, "subsystem_device", hex(0, 4));
        file(folder, "numa_node", "-1");
        show(device.address());
    }

    /** Writes the files of a GPU from its row of the table. */
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
        Path folder = create(address);
        file(folder, "vendor", hex(id & 0xffff, 4));
        file(folder, "device", hex(id >> 16 & 0xffff, 4));
        file(folder, "class", hex(classCode, 6));
        file(folder, "subsystem_vendor", hex(subsystem & 0xffff, 4));
        file(folder, "subsystem_device", hex(subsystem >> 16 & 0xffff, 4));
        linkNow(address, table.number(gpu + ".pcie_gen"), table.number(gpu + ".pcie_width"));
        linkMost(address, table.number(gpu + ".pcie_gen_max"), table.number(gpu + ".pcie_width_max"));
        show(address);
    }

    /** Writes the link's values at both of its ends. */
    void linkNow(PciAddress device, long generation, long width) {
        link(device, "current", generation, width);
    }

    void linkMost(PciAddress device, long generation, long width) {
        link(device, "max", generation, width);
    }

    private void link(PciAddress device, String what, long generation, long width) {
        for (Path end : portOf(device)
                .map(port -> List.of(folder(device), portFolder(port)))
                .orElse(List.of(folder(device)))) {
            if (generation != SimLayout.ABSENT) {
                file(end, what + "_link_speed", speed(generation));
            }
            if (width != SimLayout.ABSENT) {
                file(end, what + "_link_width", width(width));
            }
        }
    }

    boolean has(PciAddress address) {
        return Files.exists(bus().resolve(address.toString()));
    }

    /** Moves a device to another address. */
    void move(PciAddress from, PciAddress to) {
        if (!from.equals(to)) {
            portOf(to).ifPresent(this::port);
            Tree.move(folder(from), folder(to));
            hide(from);
            show(to);
        }
    }

    /** Removes a GPU from the bus. */
    void remove(SimTable table, String gpu) {
        PciAddress address = address(table, gpu);
        hide(address);
        Tree.delete(folder(address));
    }

    static PciAddress address(SimTable table, String gpu) {
        return new PciAddress(
                (int) table.number(gpu + ".pci_domain"),
                (int) table.number(gpu + ".pci_bus"),
                (int) table.number(gpu + ".pci_device"),
                0);
    }

    /** Returns the folder of a device; creates it with the files of every device where it does not exist. */
    Path create(PciAddress device) {
        portOf(device).ifPresent(this::port);
        Path folder = folder(device);
        if (!Files.isDirectory(folder)) {
            Tree.folder(folder);
            AerFiles.create(idle, folder);
        }
        return folder;
    }

    private void port(PciAddress port) {
        Path folder = portFolder(port);
        if (!Files.isDirectory(folder)) {
            Tree.folder(folder);
            AerFiles.create(idle, folder);
            file(folder, "vendor", "0x8086");
            file(folder, "device", "0x352a");
            file(folder, "class", "0x060400");
            show(port, folder);
        }
    }

    /** Returns the folder of a device's files. */
    Path folder(PciAddress device) {
        return portOf(device)
                .map(this::portFolder)
                .orElse(root(device.domain(), 0))
                .resolve(device.toString());
    }

    private Path portFolder(PciAddress port) {
        return root(port.domain(), port.bus()).resolve(port.toString());
    }

    private Path root(int domain, int bus) {
        return sys.resolve("devices").resolve(String.format(Locale.ROOT, "pci%04x:%02x", domain, bus));
    }

    /** Returns the port above, on the previous bus. Devices on bus 0 have the root itself, as in virtual machines. */
    private static Optional<PciAddress> portOf(PciAddress device) {
        return device.bus() == 0
                ? Optional.empty()
                : Optional.of(new PciAddress(device.domain(), device.bus() - 1, 1, 0));
    }

    /** Adds a device to the bus. */
    void show(PciAddress device) {
        show(device, folder(device));
    }

    private void show(PciAddress address, Path folder) {
        Tree.link(bus().resolve(address.toString()), bus().relativize(folder));
    }

    void hide(PciAddress address) {
        Tree.delete(bus().resolve(address.toString()));
    }

    /** Sets the driver of a device. */
    void bind(PciAddress address, String driver) {
        Path drivers = sys.resolve("bus/pci/drivers").resolve(driver);
        Tree.folder(drivers);
        Tree.link(folder(address).resolve("driver"), folder(address).relativize(drivers));
    }

    /**
     * Counts errors of a device or of the port above it.
     *
     * @param key `aer.correctable.BadTLP`, or that with `bridge.` before it
     * @return the kernel's lines
     */
    List<KernelLine> countErrors(PciAddress device, String driver, String key, Value value) {
        boolean above = key.startsWith(ABOVE);
        Optional<PciAddress> port = portOf(device);
        PciAddress at = above
                ? port.orElseThrow(
                        () -> new UserError(key + ": expected a device behind a port, " + device + " is not"))
                : device;
        if (!has(at)) {
            throw new UserError(key + ": expected a device on the bus, " + at + " is not");
        }
        AerError error = error(key);
        Path folder = bus().resolve(at.toString());
        long rise = AerFiles.set(folder, error, value);
        if (rise <= 0) {
            return List.of();
        }
        return AerFiles.lines(
                folder,
                above ? "pcieport" : driver,
                error,
                port.map(PciAddress::toString).orElse(""));
    }

    /** Returns the error count of a device or of the port above; empty where that does not exist. */
    Optional<Long> errors(PciAddress device, String key) {
        Optional<PciAddress> at = key.startsWith(ABOVE) ? portOf(device) : Optional.of(device);
        return at.filter(this::has).map(a -> AerFiles.get(bus().resolve(a.toString()), error(key)));
    }

    private static final String ABOVE = "bridge.";

    private static AerError error(String key) {
        String name = key.startsWith(ABOVE) ? key.substring(ABOVE.length()) : key;
        return AerError.ALL.stream()
                .filter(e -> e.key().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /** Sets all counters to 0, as a restart does. */
    void forgetErrors() {
        Tree.children(bus()).forEach(device -> AerFiles.create(idle, device));
    }

    static void file(Path folder, String name, String value) {
        Tree.write(folder.resolve(name), value + "\n");
    }

    static String hex(long number, int digits) {
        return String.format(Locale.ROOT, "0x%0" + digits + "x", number);
    }

    private static String speed(long generation) {
        return generation > 0 && generation < SPEEDS.length ? SPEEDS[(int) generation] : SPEEDS[0];
    }

    /** Returns the PCIe generation of a speed that the kernel writes. */
    static String generation(String speed) {
        return Integer.toString(List.of(SPEEDS).indexOf(speed));
    }

    private static String width(long lanes) {
        return lanes < 0 ? "0" : Long.toString(lanes);
    }
}
