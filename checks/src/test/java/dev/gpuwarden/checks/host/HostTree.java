package dev.gpuwarden.checks.host;

import dev.gpuwarden.checks.NodeBoot;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening.Reason;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A node's /sys and /proc for checks of the host, laid out like the kernel's, and a clock that the test moves.
 * Attributes have the words of a ConnectX-7 and of Linux 6.8.
 */
final class HostTree implements CheckContext {

    private static final Limits LIMITS = BoardLimits.shipped();

    final Path root;
    final Map<String, Long> notes = new HashMap<>();
    final Map<String, Long> boot = new HashMap<>();
    Instant now = Instant.parse("2026-03-01T12:00:00Z");
    Expectations expectations = Expectations.NONE;
    NodeSnapshot node = new NodeSnapshot(
            new DriverState.Unavailable(Reason.LIBRARY_MISSING, 0, ""), Reading.of(List.of()), List.of());

    private final Map<String, Map<Instant, Long>> courses = new HashMap<>();

    private final Path sysfs;
    private final Path procfs;

    /** Wraps the trees of another fixture. */
    HostTree(Path sysfs, Path procfs, NodeSnapshot node) {
        this.root = sysfs;
        this.sysfs = sysfs;
        this.procfs = procfs;
        this.node = node;
    }

    HostTree(Path root) {
        this.root = root;
        this.sysfs = root.resolve("sys");
        this.procfs = root.resolve("proc");
        write("proc/uptime", "123456.78 4567.89\n");
        folder("sys/bus/pci/devices");
    }

    /** Runs a check, then advances the clock by the check's interval. */
    List<Finding> run(HealthCheck check) {
        List<Finding> findings = check.run(this);
        now = now.plus(check.info().every());
        return findings;
    }

    /** Runs a check so many times and returns the last result. */
    List<Finding> run(HealthCheck check, int times) {
        for (int i = 1; i < times; i++) {
            run(check);
        }
        return run(check);
    }

    static Optional<Finding> about(List<Finding> findings, String label) {
        return findings.stream().filter(f -> f.subject().label().equals(label)).findFirst();
    }

    /**
     * Adds a network adapter's function below a port of its own, with an RDMA device that has one port, which is up.
     */
    Path nic(String name, String address, String layer, String rate) {
        String device = pci(address, "0x15b3", "0x1021", "0x020700");
        write(device + "/subsystem_vendor", "0x15b3\n");
        write(device + "/subsystem_device", "0x0041\n");
        link(device + "/driver", "sys/bus/pci/drivers/mlx5_core");
        String rdma = device + "/infiniband/" + name;
        link(rdma + "/device", device);
        link("sys/class/infiniband/" + name, rdma);
        port(rdma + "/ports/1", layer, rate);
        return root.resolve(rdma + "/ports/1");
    }

    private void port(String port, String layer, String rate) {
        write(port + "/link_layer", layer + "\n");
        write(port + "/rate", rate + "\n");
        write(port + "/state", "4: ACTIVE\n");
        write(port + "/phys_state", "5: LinkUp\n");
        for (String counter : List.of(
                "symbol_error",
                "link_error_recovery",
                "link_downed",
                "port_rcv_errors",
                "port_xmit_discards",
                "local_link_integrity_errors",
                "excessive_buffer_overrun_errors")) {
            write(port + "/counters/" + counter, "0\n");
        }
        write(port + "/hw_counters/out_of_sequence", "0\n");
    }

    /** Adds a PCI device below a root port, both with error counters. */
    String pci(String address, String vendor, String id, String type) {
        String bus = address.substring(0, 7);
        String bridge = "sys/devices/pci" + bus + "/" + bus + ":1f.0";
        if (!Files.exists(root.resolve(bridge + "/class"))) {
            device(bridge, bus + ":1f.0", "0x8086", "0x1234", "0x060400");
        }
        String folder = bridge + "/" + address;
        device(folder, address, vendor, id, type);
        return folder;
    }

    private void device(String folder, String address, String vendor, String id, String type) {
        write(folder + "/vendor", vendor + "\n");
        write(folder + "/device", id + "\n");
        write(folder + "/class", type + "\n");
        write(folder + "/aer_dev_fatal", "Undefined 0\nDLP 0\nSDES 0\nTLP 0\nTOTAL_ERR_FATAL 0\n");
        write(folder + "/aer_dev_nonfatal", "Undefined 0\nCmpltTO 0\nTOTAL_ERR_NONFATAL 0\n");
        write(folder + "/aer_dev_correctable", "RxErr 0\nBadTLP 0\nBadDLLP 0\nTOTAL_ERR_COR 0\n");
        link("sys/bus/pci/devices/" + address, folder);
    }

    void write(String file, String text) {
        write(root.resolve(file), text);
    }

    static void write(Path file, String text) {
        try {
            Files.createDirectories(file.getParent());
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void down(Path port) {
        write(port.resolve("state"), "1: DOWN\n");
        write(port.resolve("phys_state"), "2: Polling\n");
        write(port.resolve("rate"), "10 Gb/sec (4X SDR)\n");
    }

    static void up(Path port, String rate) {
        write(port.resolve("state"), "4: ACTIVE\n");
        write(port.resolve("phys_state"), "5: LinkUp\n");
        write(port.resolve("rate"), rate + "\n");
    }

    void folder(String folder) {
        try {
            Files.createDirectories(root.resolve(folder));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void link(String link, String target) {
        try {
            folder(target);
            Files.createDirectories(root.resolve(link).getParent());
            Files.createSymbolicLink(root.resolve(link), root.resolve(target));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void delete(String path) {
        try (Stream<Path> all = Files.walk(root.resolve(path))) {
            for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void expectPorts(int ports, int gbps) {
        expectations = new Expectations(
                OptionalInt.empty(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                OptionalInt.of(ports),
                gbps == 0 ? OptionalInt.empty() : OptionalInt.of(gbps),
                Set.of());
    }

    void leaveOut(String... devices) {
        expectations = new Expectations(
                OptionalInt.empty(),
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                OptionalInt.empty(),
                OptionalInt.empty(),
                Set.of(devices));
    }

    @Override
    public Reading<Long> increase(String counter, long value, Duration window) {
        Map<Instant, Long> course = courses.computeIfAbsent(counter, any -> new HashMap<>());
        course.put(now, value);
        Long then = course.get(now.minus(window));
        return then == null ? Reading.absent(Absence.PENDING) : Reading.of(value - then);
    }

    @Override
    public NodeSnapshot node() {
        return node;
    }

    @Override
    public Expectations expectations() {
        return expectations;
    }

    @Override
    public Map<String, Long> notes() {
        return notes;
    }

    @Override
    public Map<String, Long> bootNotes() {
        return boot;
    }

    @Override
    public Optional<String> young() {
        return NodeBoot.once(NodeBoot.YOUNG, NodePaths.of(procfs, sysfs, root)).young();
    }

    @Override
    public GpuHistory history(GpuIdentity gpu) {
        return GpuHistory.NONE;
    }

    @Override
    public Limits limits() {
        return LIMITS;
    }

    @Override
    public Path sysfs() {
        return sysfs;
    }

    @Override
    public Path procfs() {
        return procfs;
    }

    @Override
    public Instant now() {
        return now;
    }
}
