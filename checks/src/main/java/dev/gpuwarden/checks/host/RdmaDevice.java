package dev.gpuwarden.checks.host;

import dev.gpuwarden.checks.node.Sysfs;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * An RDMA device: InfiniBand, RoCE, EFA. Virtual functions are left out, because they come and go with pods.
 *
 * @param pci empty for software devices
 */
record RdmaDevice(String name, Optional<PciAddress> pci, List<RdmaPort> ports) {

    private static final long INTERFACE_UP = 1;
    private static final long CARRIER_DOWN_STATE = 1;
    private static final long ACTIVE_STATE = 4;
    private static final long PHYSICALLY_DISABLED = 3;

    /**
     * Returns the devices in /sys/class/infiniband; none if there is no such folder.
     *
     * @param untouched devices to leave out; none of their files is read
     */
    static Reading<List<RdmaDevice>> list(Path sysfs, Set<String> untouched) {
        Path folder = sysfs.resolve("class/infiniband");
        Reading<List<String>> names = Sysfs.names(folder);
        if (names instanceof Reading.Absent<List<String>> absent) {
            return Files.exists(folder, LinkOption.NOFOLLOW_LINKS)
                    ? Reading.absent(absent.cause(), absent.code(), absent.detail())
                    : Reading.of(List.of());
        }
        List<RdmaDevice> devices = new ArrayList<>();
        for (String name : names.asOptional().orElse(List.of())) {
            if (!untouched.contains(name)) {
                read(folder.resolve(name)).ifPresent(devices::add);
            }
        }
        return Reading.of(List.copyOf(devices));
    }

    private static Optional<RdmaDevice> read(Path folder) {
        Optional<Path> device = Sysfs.real(folder.resolve("device"));
        if (device.map(d -> Files.exists(d.resolve("physfn"), LinkOption.NOFOLLOW_LINKS))
                .orElse(false)) {
            return Optional.empty();
        }
        // A folder that is gone now was removed between listing and reading.
        Reading<List<String>> numbers = Sysfs.names(folder.resolve("ports"));
        if (numbers instanceof Reading.Absent<?>) {
            return Optional.empty();
        }
        String name = folder.getFileName().toString();
        Optional<PciAddress> pci = device.flatMap(Sysfs::pci);
        List<String> present = numbers.asOptional().orElse(List.of());
        List<RdmaPort> ports = new ArrayList<>();
        for (String number : present) {
            ports.add(port(folder, name, pci, device, number, present.size() == 1));
        }
        return Optional.of(new RdmaDevice(name, pci, List.copyOf(ports)));
    }

    private static RdmaPort port(
            Path folder, String name, Optional<PciAddress> pci, Optional<Path> device, String number, boolean alone) {
        Path files = folder.resolve("ports").resolve(number);
        Optional<Path> netdev = device.flatMap(d -> netdev(d.resolve("net"), number));
        String layer = Sysfs.text(files.resolve("link_layer")).asOptional().orElse("");
        Reading<Long> state = Sysfs.number(files.resolve("state"));
        Reading<Long> physical = Sysfs.number(files.resolve("phys_state"));
        boolean efa =
                device.map(d -> Sysfs.linked(d.resolve("driver")).equals("efa")).orElse(false);
        if (efa && netdev.isPresent()) {
            // The efa driver always reports ACTIVE (efa_verbs.c, efa_query_port). Only the interface has the real
            // state.
            state = interfaceState(netdev.get());
        }
        return new RdmaPort(
                pci.map(PciAddress::toString).orElse(name) + "/" + number,
                alone ? name : name + ":" + number,
                pci.isPresent() ? kind(device.orElseThrow(), pci.get(), number, layer) : "",
                state,
                physical,
                rate(files.resolve("rate")),
                layer,
                switchedOff(layer, physical, netdev),
                files,
                netdev);
    }

    /**
     * Returns whether an administrator disabled the port. InfiniBand shows it on the port itself. Every RoCE port
     * without carrier shows it too, so the interface decides there.
     */
    private static boolean switchedOff(String layer, Reading<Long> physical, Optional<Path> netdev) {
        if (layer.equals("InfiniBand")) {
            return physical.asOptional().orElse(0L) == PHYSICALLY_DISABLED;
        }
        return netdev.flatMap(folder -> Sysfs.number(folder.resolve("flags")).asOptional())
                .map(flags -> (flags & INTERFACE_UP) == 0)
                .orElse(false);
    }

    private static Reading<Long> interfaceState(Path netdev) {
        String operstate = Sysfs.text(netdev.resolve("operstate")).asOptional().orElse("unknown");
        return Reading.of(operstate.equals("up") || operstate.equals("unknown") ? ACTIVE_STATE : CARRIER_DOWN_STATE);
    }

    /**
     * Returns the network interface of a port. If it has several, it is the one with the port's number (dev_port counts from
     * 0).
     */
    private static Optional<Path> netdev(Path net, String port) {
        List<String> names = Sysfs.names(net).asOptional().orElse(List.of());
        for (String name : names) {
            Path folder = net.resolve(name);
            if (names.size() == 1
                    || Sysfs.number(folder.resolve("dev_port"))
                            .asOptional()
                            .map(n -> Long.toString(n + 1).equals(port))
                            .orElse(false)) {
                return Optional.of(folder);
            }
        }
        return Optional.empty();
    }

    private static String kind(Path device, PciAddress pci, String port, String layer) {
        StringBuilder kind = new StringBuilder();
        for (String id : List.of("vendor", "device", "subsystem_vendor", "subsystem_device")) {
            kind.append(Sysfs.text(device.resolve(id)).asOptional().orElse("?")).append(' ');
        }
        // Both ports of a card may be functions of their own, and only the first may be cabled on every card.
        return kind.append(pci.function())
                .append(' ')
                .append(port)
                .append(' ')
                .append(layer)
                .toString();
    }

    private static Reading<Double> rate(Path file) {
        Reading<String> text = Sysfs.text(file);
        if (!(text instanceof Reading.Present<String> present)) {
            return text.map(any -> 0.0);
        }
        try {
            return Reading.of(Double.parseDouble(present.value().split("\\s", 2)[0]));
        } catch (NumberFormatException e) {
            return Reading.absent(Absence.IMPLAUSIBLE, 0, file + " is not a rate");
        }
    }
}
