package dev.gpuwarden.checks.host;

import dev.gpuwarden.checks.node.Sysfs;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A PCIe device whose errors affect GPU work. */
record PcieDevice(PciAddress address, Subject subject, String text, Path folder) {

    private static final long NVIDIA = 0x10de;
    private static final long DISPLAY = 0x03;
    private static final long BRIDGE = 0x06;
    private static final long NETWORK = 0x02;

    /**
     * Returns GPUs, NVSwitches, network devices, and every port between them and the root, each once, in the order of
     * the bus.
     */
    static List<PcieDevice> watched(Path sysfs, NodeSnapshot node) {
        Path bus = sysfs.resolve("bus/pci/devices");
        Map<PciAddress, PcieDevice> found = new LinkedHashMap<>();
        for (String name : Sysfs.names(bus).asOptional().orElse(List.of())) {
            Path folder = bus.resolve(name);
            long type = Sysfs.number(folder.resolve("class")).asOptional().orElse(0L) >>> 16;
            boolean nvidia = Sysfs.number(folder.resolve("vendor")).asOptional().orElse(0L) == NVIDIA;
            boolean watched = type == NETWORK || nvidia && (type == DISPLAY || type == BRIDGE);
            // A device without error counters is not followed up to the root.
            if (watched
                    && !Files.exists(folder.resolve("physfn"), LinkOption.NOFOLLOW_LINKS)
                    && Files.exists(folder.resolve("aer_dev_fatal"))) {
                Sysfs.real(folder).ifPresent(real -> add(real, type, node, found));
            }
        }
        return List.copyOf(found.values());
    }

    private static void add(Path real, long type, NodeSnapshot node, Map<PciAddress, PcieDevice> found) {
        Sysfs.pci(real)
                .ifPresent(address -> found.put(
                        address,
                        switch ((int) type) {
                            case (int) DISPLAY -> gpu(address, real, node);
                            case (int) NETWORK -> network(address, real);
                            default -> new PcieDevice(address, part("NVSWITCH", address), "NVSwitch " + address, real);
                        }));
        for (Path above = real.getParent(); above != null; above = above.getParent()) {
            Path folder = above;
            var address = Sysfs.pci(folder);
            if (address.isEmpty()) {
                return;
            }
            found.computeIfAbsent(
                    address.get(), a -> new PcieDevice(a, part("PCIE_PORT", a), "the PCIe port " + a, folder));
        }
    }

    private static PcieDevice gpu(PciAddress address, Path folder, NodeSnapshot node) {
        for (GpuSnapshot gpu : node.gpus()) {
            if (gpu.identity().pci().asOptional().filter(address::equals).isPresent()) {
                return new PcieDevice(address, Subject.of(gpu.identity()), "GPU " + address, folder);
            }
        }
        return new PcieDevice(
                address, new Subject(address.toString(), List.of(Entity.pci(address))), "GPU " + address, folder);
    }

    /** Returns a network device with the names that the checks of its ports use, if it is an RDMA device. */
    private static PcieDevice network(PciAddress address, Path folder) {
        List<String> rdma =
                Sysfs.names(folder.resolve("infiniband")).asOptional().orElse(List.of());
        String name = rdma.size() == 1 ? rdma.get(0) : address.toString();
        return new PcieDevice(
                address,
                new Subject(name, List.of(new Entity("NIC", name))),
                "the network device " + (rdma.size() == 1 ? name + " at " : "") + address,
                folder);
    }

    private static Subject part(String type, PciAddress address) {
        return Subject.of(new Entity(type, address.toString()));
    }

    /**
     * Returns the total of such a file, its last line: `TOTAL_ERR_FATAL 0`
     * (Documentation/ABI/testing/sysfs-bus-pci-devices-aer_stats).
     */
    Reading<Long> total(String file) {
        Path path = folder.resolve(file);
        Reading<String> text = Sysfs.text(path);
        if (text instanceof Reading.Present<String> present) {
            for (String line : present.value().split("\n")) {
                if (line.startsWith("TOTAL_ERR_")) {
                    return number(line, path);
                }
            }
            return Reading.absent(Absence.IMPLAUSIBLE, 0, path + " has no total");
        }
        return text.map(any -> 0L);
    }

    private static Reading<Long> number(String line, Path path) {
        try {
            return Reading.of(
                    Long.parseLong(line.substring(line.indexOf(' ') + 1).strip()));
        } catch (NumberFormatException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, path + " is not a number");
        }
    }

    /** Returns the errors counted since the device appeared: "SDES 1, TLP 3". */
    String names(String file) {
        List<String> counted = new ArrayList<>();
        for (String line :
                Sysfs.text(folder.resolve(file)).asOptional().orElse("").split("\n")) {
            String[] words = line.strip().split(" ");
            if (words.length == 2 && !words[0].startsWith("TOTAL_ERR_") && !words[1].equals("0")) {
                counted.add(words[0] + " " + words[1]);
            }
        }
        return counted.isEmpty() ? "of unknown kind" : String.join(", ", counted) + " since the start";
    }
}
