package dev.gpuwarden.daemon.check.host;

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

/** RDMA devices that were seen and are not there any more. Told apart by their address: names change while a node boots. */
final class MissingNics {

    private static final String SEEN = "device ";

    private MissingNics() {}

    /** Notes what is there now. */
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
     * A device that is still on the bus may have been moved into a container's network namespace, where this program does not
     * see it, as well as have failed: nothing in /sys tells which.
     */
    private static Finding finding(String name, PciAddress address, boolean onBus) {
        Subject subject = new Subject(name, List.of(new Entity("NIC", name)));
        return onBus
                ? Finding.warn(
                        "nic-not-listed",
                        subject,
                        name + " at " + address + " is on the PCI bus and no longer an RDMA device here",
                        "fine if it was moved into a container's network namespace; otherwise look for its driver's"
                                + " messages in the kernel log")
                : Finding.fail(
                        "nic-gone",
                        subject,
                        name + " was at " + address + " and is no longer on the PCI bus",
                        "look for " + address + " in the kernel log; reboot",
                        RecommendedAction.RESTART_BM);
    }
}
