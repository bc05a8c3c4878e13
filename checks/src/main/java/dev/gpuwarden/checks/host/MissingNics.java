package dev.gpuwarden.checks.host;

import dev.gpuwarden.checks.node.Sysfs;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.PciAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** RDMA devices that were seen and are gone. They are identified by PCI address, because names change while a node boots. */
final class MissingNics {

    private static final String SEEN = "device ";

    private MissingNics() {}

    /** Records the present devices and returns findings for those that are gone. */
    static List<Finding> find(List<RdmaDevice> devices, Map<String, Long> notes, Path sysfs) {
        for (RdmaDevice device : devices) {
            device.pci().ifPresent(address -> {
                notes.keySet().removeIf(key -> key.startsWith(SEEN + address + " "));
                notes.put(SEEN + address + " " + device.name(), 1L);
            });
        }
        List<Finding> gone = new ArrayList<>();
        for (String key : List.copyOf(notes.keySet())) {
            if (key.startsWith(SEEN)) {
                String[] words = key.substring(SEEN.length()).split(" ", 2);
                PciAddress address = PciAddress.parse(words[0]).orElseThrow();
                if (devices.stream().noneMatch(device -> device.pci().equals(Optional.of(address)))) {
                    Path folder = sysfs.resolve("bus/pci/devices").resolve(words[0]);
                    if (givenAway(folder)) {
                        notes.remove(key);
                    } else {
                        gone.add(finding(words[1], address, Files.exists(folder, LinkOption.NOFOLLOW_LINKS)));
                    }
                }
            }
        }
        return gone;
    }

    private static boolean givenAway(Path folder) {
        String driver = Sysfs.linked(folder.resolve("driver"));
        return driver.equals("vfio-pci") || driver.equals("pci-stub");
    }

    /**
     * Returns a WARN for a device that is still on the bus, a FAIL for one that is not. A device on the bus may have
     * failed. It may also have moved into a container's network namespace, which this program cannot see; /sys does not
     * distinguish the two.
     */
    private static Finding finding(String name, PciAddress address, boolean onBus) {
        Subject subject = new Subject(name, List.of(new Entity("NIC", name)));
        return onBus
                ? Finding.warn(
                        "nic-not-listed",
                        subject,
                        name + " at " + address + " is on the PCI bus but is no longer an RDMA device here",
                        "ignore this if a container's network namespace has it; otherwise search for its driver's"
                                + " messages in the kernel log")
                : Finding.fail(
                        "nic-gone",
                        subject,
                        name + " was at " + address + " and is no longer on the PCI bus",
                        "search for " + address + " in the kernel log; reboot",
                        RecommendedAction.RESTART_BM);
    }
}
