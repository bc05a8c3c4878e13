package dev.gpuwarden.testkit.sim;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.util.Sha256;
import dev.gpuwarden.testkit.scenario.Keys;
import dev.gpuwarden.testkit.scenario.Keys.Key;
import dev.gpuwarden.testkit.scenario.Nic;
import dev.gpuwarden.testkit.scenario.Rows;
import dev.gpuwarden.testkit.scenario.Setting;
import dev.gpuwarden.testkit.scenario.Value;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The node's network devices: their folders below the PCI devices, and the links in /sys/class. They are not in the table. */
final class NicFiles {

    private static final String DRIVER = "mlx5_core";
    private static final long DOWN = 1;
    private static final long ACTIVE = 4;

    /** Names of the states in ib_core. */
    private static final List<String> STATES = List.of("0: NOP", "1: DOWN", "2: INIT", "3: ARMED", "4: ACTIVE");

    private static final List<String> PHYSICAL = List.of(
            "0: ",
            "1: Sleep",
            "2: Polling",
            "3: Disabled",
            "4: PortConfigurationTraining",
            "5: LinkUp",
            "6: LinkErrorRecovery");

    /** Names of speeds, by the rate of four lanes. */
    private static final Map<Long, String> RATES = Map.of(
            10L, "4X SDR", 40L, "4X QDR", 56L, "4X FDR", 100L, "4X EDR", 200L, "4X HDR", 400L, "4X NDR", 800L,
            "4X XDR");

    /**
     * A device of this node.
     *
     * @param ib its name as an RDMA device
     * @param net its name as a network interface
     */
    record Device(PciAddress address, String ib, String net, int rate, boolean ethernet) {
        /** Returns the link layer as sysfs names it. */
        String linkLayer() {
            return ethernet ? "Ethernet" : "InfiniBand";
        }
    }

    private final PciFiles pci;
    private final Path sys;
    private final Path list;
    private final Path away;
    private final Path idle;

    NicFiles(NodeFolder folder, PciFiles pci) {
        this.pci = pci;
        this.sys = folder.sys;
        this.list = folder.nics;
        this.away = folder.offBus;
        this.idle = folder.idleCounters;
    }

    /** Returns the node's devices in order, also those that are not on the bus. */
    List<Device> all() {
        return Tree.read(list).lines().map(NicFiles::device).toList();
    }

    private static Device device(String line) {
        String[] c = line.split("\t");
        return new Device(
                PciAddress.parse(c[0]).orElseThrow(), c[1], c[2], Integer.parseInt(c[3]), Boolean.parseBoolean(c[4]));
    }

    /** Returns the devices that are on the bus now. */
    List<Device> present() {
        return all().stream().filter(device -> pci.has(device.address())).toList();
    }

    /** Creates the devices. @param seed of their identities */
    void create(List<Nic> nics, String seed) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < nics.size(); i++) {
            Nic nic = nics.get(i);
            Device device = new Device(nic.address(), "mlx5_" + i, interfaceName(nic), nic.rate(), nic.ethernet());
            lines.append(String.join(
                            "\t",
                            device.address().toString(),
                            device.ib(),
                            device.net(),
                            Integer.toString(device.rate()),
                            Boolean.toString(device.ethernet())))
                    .append('\n');
            Map<String, String> names = names(nic, device, i, seed);
            Path folder = pci.create(device.address());
            for (String[] row : Rows.of("nic.tsv", 2)) {
                PciFiles.file(folder, Rows.fill(row[0], names), Rows.fill(row[1], names));
            }
            pci.linkNow(device.address(), nic.rate() > 200 ? 5 : 4, 16);
            pci.linkMost(device.address(), nic.rate() > 200 ? 5 : 4, 16);
            pci.bind(device.address(), DRIVER);
            PciFiles.file(folder, "infiniband/" + device.ib() + "/ports/1/rate", rate(nic.rate()));
            Tree.link(folder.resolve("infiniband").resolve(device.ib()).resolve("device"), Path.of("../.."));
            Tree.link(folder.resolve("net").resolve(device.net()).resolve("device"), Path.of("../.."));
            zero(device);
            show(device);
        }
        Tree.write(list, lines.toString());
    }

    /** Returns the interface's name by systemd's scheme for the place of a device. */
    private static String interfaceName(Nic nic) {
        PciAddress at = nic.address();
        String domain = at.domain() == 0 ? "" : "P" + at.domain();
        return (nic.ethernet() ? "en" : "ib") + domain + "p" + at.bus() + "s" + at.device()
                + (nic.ethernet() ? "np0" : "");
    }

    private static Map<String, String> names(Nic nic, Device device, int index, String seed) {
        String hex = "b83fd203" + Sha256.hex(seed + "/nic/" + index, 8);
        String guid = hex.replaceAll("(....)(?=.)", "$1:");
        String mac = hex.replaceAll("(..)(?=.)", "$1:");
        return Map.ofEntries(
                Map.entry("device", PciFiles.hex(nic.model().deviceId(), 4)),
                Map.entry("class", nic.ethernet() ? "0x020000" : "0x020700"),
                Map.entry("numa", Integer.toString(nic.numaNode())),
                Map.entry("ib", device.ib()),
                Map.entry("net", device.net()),
                Map.entry("board", nic.model().board()),
                Map.entry("firmware", nic.model().firmware()),
                Map.entry("model", nic.model().name()),
                Map.entry("guid", guid),
                Map.entry("lid", nic.ethernet() ? "0x0" : PciFiles.hex(index + 17, 2)),
                Map.entry("layer", device.linkLayer()),
                Map.entry("type", nic.ethernet() ? "1" : "32"),
                Map.entry("ifindex", Integer.toString(index + 10)),
                Map.entry("mac", nic.ethernet() ? mac.substring(0, 17) : "00:00:10:49:fe:80:00:00:00:00:00:00:" + mac));
    }

    /** Sets the port up and its counters to 0. */
    private void zero(Device device) {
        CounterFiles.zero(idle, port(device).resolve("counters"), files("/counters/"));
        CounterFiles.zero(idle, port(device).resolve("hw_counters"), files("/hw_counters/"));
        CounterFiles.zero(idle, net(device).resolve("statistics"), files("/statistics/"));
        for (String counter : List.of("carrier_changes", "carrier_up_count", "carrier_down_count")) {
            netFile(device, counter, "0");
        }
        state(device, ACTIVE);
        netFile(device, "flags", "0x1003");
    }

    private static List<String> files(String folder) {
        List<String> names = new ArrayList<>();
        for (Key key : Keys.NIC.all()) {
            if (!key.fields().isEmpty() && key.fields().get(0).contains(folder)) {
                names.add(key.name());
            }
        }
        return names;
    }

    /** Applies a restart of the node. */
    void restart() {
        present().forEach(this::zero);
    }

    private void show(Device device) {
        Path folder = pci.folder(device.address());
        pci.show(device.address());
        link("class/infiniband", folder.resolve("infiniband").resolve(device.ib()));
        link("class/net", folder.resolve("net").resolve(device.net()));
    }

    private void link(String group, Path target) {
        Path links = sys.resolve(group);
        Tree.link(links.resolve(target.getFileName()), links.relativize(target));
    }

    /** Applies a setting; returns the kernel's lines about it. */
    List<KernelLine> set(int index, Setting setting) {
        Device device = all().get(index);
        String name = setting.key().name();
        long number = setting.value() instanceof Value.Numbers n ? n.numbers().get(0) : 0;
        boolean present = pci.has(device.address());
        if (name.equals("on-bus")) {
            putOnBus(device, present, number == 1);
            return List.of();
        }
        if (!present) {
            throw new UserError("nic." + index + "." + name + ": expected a device on the bus, it is not");
        }
        if (name.contains("aer.")) {
            return pci.countErrors(device.address(), DRIVER, name, setting.value());
        }
        switch (name) {
            case "state" -> {
                return change(device, number);
            }
            case "phys-state" -> portFile(device, "phys_state", PHYSICAL.get((int) number));
            case "rate" -> portFile(device, "rate", rate(number));
            case "interface" -> {
                netFile(device, "flags", number == 1 ? "0x1003" : "0x1002");
                netFile(device, "operstate", number == 1 ? "up" : "down");
            }
            case "pcie.generation" -> pci.linkNow(device.address(), number, SimLayout.ABSENT);
            case "pcie.width" -> pci.linkNow(device.address(), SimLayout.ABSENT, number);
            default -> CounterFiles.set(file(device, setting.key()), setting.value());
        }
        return List.of();
    }

    private void putOnBus(Device device, boolean present, boolean wanted) {
        Path folder = pci.folder(device.address());
        Path kept = away.resolve(device.address().toString());
        if (present && !wanted) {
            pci.hide(device.address());
            Tree.delete(sys.resolve("class/infiniband").resolve(device.ib()));
            Tree.delete(sys.resolve("class/net").resolve(device.net()));
            Tree.folder(away);
            Tree.move(folder, kept);
        } else if (!present && wanted) {
            Tree.move(kept, folder);
            show(device);
        }
    }

    /** Sets the port's state and the values that depend on it. */
    private List<KernelLine> change(Device device, long state) {
        boolean before = read(device, "state").startsWith("4");
        state(device, state);
        boolean now = state == ACTIVE;
        if (before == now) {
            return List.of();
        }
        Path net = net(device);
        Value one = new Value.Added(1);
        CounterFiles.set(net.resolve("carrier_changes"), one);
        CounterFiles.set(net.resolve(now ? "carrier_up_count" : "carrier_down_count"), one);
        if (!now) {
            CounterFiles.set(file(device, Keys.NIC.get("link_downed")), one);
        }
        String address = device.address().toString();
        String text = device.ethernet()
                ? " " + device.net() + ": Link " + (now ? "up" : "down")
                : ": Port module event: module 0, Cable " + (now ? "plugged" : "unplugged");
        return List.of(KernelLine.device(KernelLine.INFO, address, DRIVER + " " + address + text));
    }

    private void state(Device device, long state) {
        portFile(device, "state", STATES.get((int) state));
        // A port without cable polls for a partner; the driver derives the physical state of Ethernet.
        long physical = state != DOWN ? 5 : device.ethernet() ? 3 : 2;
        portFile(device, "phys_state", PHYSICAL.get((int) physical));
        if (!device.ethernet()) {
            portFile(device, "rate", rate(state == DOWN ? 10 : device.rate()));
        }
        netFile(device, "operstate", state == ACTIVE ? "up" : "down");
        netFile(device, "carrier", state == ACTIVE ? "1" : "0");
        netFile(device, "speed", state == ACTIVE ? Integer.toString(device.rate() * 1000) : "-1");
    }

    private static String rate(long gigabits) {
        return gigabits + " Gb/sec (" + RATES.getOrDefault(gigabits, "4X") + ")";
    }

    private String read(Device device, String name) {
        return Tree.read(port(device).resolve(name)).strip();
    }

    private Path port(Device device) {
        return pci.folder(device.address())
                .resolve("infiniband")
                .resolve(device.ib())
                .resolve("ports/1");
    }

    private void portFile(Device device, String name, String text) {
        PciFiles.file(port(device), name, text);
    }

    private void netFile(Device device, String name, String text) {
        PciFiles.file(net(device), name, text);
    }

    private Path net(Device device) {
        return pci.folder(device.address()).resolve("net").resolve(device.net());
    }

    private Path file(Device device, Key key) {
        return pci.folder(device.address())
                .resolve(Rows.fill(key.fields().get(0), Map.of("ib", device.ib(), "net", device.net())));
    }

    /** Returns the value of a key in a scenario's form; empty for keys without a file, or while the device is off the bus. */
    Optional<String> value(Device device, Key key) {
        if (!pci.has(device.address())) {
            return Optional.of(key.name()).filter("on-bus"::equals).map(name -> "no");
        }
        Path folder = pci.folder(device.address());
        return switch (key.name()) {
            case "on-bus" -> Optional.of("yes");
            case "state" -> Optional.of(key.form().write(List.of(firstNumber(read(device, "state")))));
            case "phys-state" -> Optional.of(key.form().write(List.of(firstNumber(read(device, "phys_state")))));
            case "rate" -> Optional.of(Long.toString(firstNumber(read(device, "rate"))));
            case "interface" ->
                Optional.of(Tree.read(net(device).resolve("flags")).strip().equals("0x1003") ? "up" : "down");
            case "pcie.width" ->
                Optional.of(Tree.read(folder.resolve("current_link_width")).strip());
            case "pcie.generation" ->
                Optional.of(PciFiles.generation(
                        Tree.read(folder.resolve("current_link_speed")).strip()));
            default ->
                key.fields().isEmpty()
                        ? pci.errors(device.address(), key.name()).map(String::valueOf)
                        : Optional.of(Tree.read(file(device, key)).strip());
        };
    }

    private static long firstNumber(String text) {
        return Long.parseLong(text.split("[: ]", 2)[0]);
    }

    /** Returns the values of the names in a device's boot lines. */
    Map<String, String> names(Device device) {
        Path folder = pci.folder(device.address());
        return Map.of(
                "address", device.address().toString(),
                "vendor", Tree.read(folder.resolve("vendor")).strip().substring(2),
                "device", Tree.read(folder.resolve("device")).strip().substring(2),
                "class", Tree.read(folder.resolve("class")).strip());
    }
}
