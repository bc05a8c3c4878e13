package dev.gpuwarden.checks.host;

import static dev.gpuwarden.checks.host.HostTree.about;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class NicLinkCheckTest {

    private static final String NDR = "400 Gb/sec (4X NDR)";

    @TempDir
    Path folder;

    private HostTree tree;
    private final NicLinkCheck check = new NicLinkCheck();

    @BeforeEach
    void node() {
        tree = new HostTree(folder);
    }

    /** Returns eight compute ports, as on an HGX board. */
    private List<Path> eight() {
        List<Path> ports = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            ports.add(tree.nic("mlx5_" + i, "0000:" + (10 + i) + ":00.0", "InfiniBand", NDR));
        }
        return ports;
    }

    private static String code(List<Finding> findings, String label) {
        return about(findings, label).map(Finding::code).orElse("nothing");
    }

    @Test
    void absentHardwareHasNoFinding() {
        assertThat(tree.run(check)).isEmpty();
        tree.folder("sys/class/infiniband");
        assertThat(tree.run(check)).isEmpty();
    }

    @Test
    void portsThatAreUpPass() {
        eight();
        assertThat(tree.run(check))
                .hasSize(8)
                .allSatisfy(f -> assertThat(f.outcome()).isEqualTo(Outcome.PASS))
                .extracting(Finding::message)
                .contains("mlx5_0 is up at 400 Gb/s");
    }

    @Test
    void portThatWasNeverUpIsUnusedWhateverItsPeersDo() {
        HostTree.down(eight().get(3));
        Finding finding = about(tree.run(check, 100), "mlx5_3").orElseThrow();
        assertThat(finding.code()).isEqualTo("nic-port-unused");
        assertThat(finding.outcome()).isEqualTo(Outcome.SKIPPED);
    }

    @Test
    void portThatWasUpInThisBootIsMissedAfterARestartOfTheDaemon() {
        Path port = eight().get(3);
        tree.run(check);
        tree.notes.clear();
        HostTree.down(port);
        assertThat(code(tree.run(check), "mlx5_3")).isEqualTo("nic-port-down");
    }

    @Test
    void portThatGoesDownIsAFaultAtTheNextRun() {
        Path port = eight().get(3);
        tree.run(check);
        HostTree.down(port);
        Finding finding = about(tree.run(check), "mlx5_3").orElseThrow();
        assertThat(finding.code()).isEqualTo("nic-port-down");
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.message())
                .isEqualTo("mlx5_3 has no link (DOWN, Polling), expected ACTIVE: it was up before");
        assertThat(finding.action()).isEqualTo(RecommendedAction.NONE);
        assertThat(about(tree.run(check, 17), "mlx5_3").orElseThrow().action())
                .as("after four minutes")
                .isEqualTo(RecommendedAction.CONTACT_SUPPORT);
    }

    @Test
    void unusedPortsAreNoFault() {
        List<Path> ports = eight();
        ports.subList(4, 8).forEach(HostTree::down);
        assertThat(tree.run(check)).filteredOn(f -> f.outcome() == Outcome.FAIL).isEmpty();
        assertThat(code(tree.run(check), "mlx5_6")).isEqualTo("nic-port-unused");
    }

    @Test
    void secondFunctionOfACardIsAKindOfItsOwn() {
        eight();
        HostTree.down(tree.nic("mlx5_8", "0000:10:00.1", "InfiniBand", NDR));
        assertThat(code(tree.run(check), "mlx5_8")).isEqualTo("nic-port-unused");
    }

    @Test
    void portThatWasUpIsMissedRegardlessOfPeers() {
        Path only = tree.nic("mlx5_0", "0000:10:00.0", "InfiniBand", NDR);
        tree.run(check);
        HostTree.down(only);
        Finding finding = about(tree.run(check), "mlx5_0").orElseThrow();
        assertThat(finding.code()).isEqualTo("nic-port-down");
        assertThat(finding.message()).endsWith("it was up before");
        HostTree.up(only, NDR);
        assertThat(code(tree.run(check), "mlx5_0")).isEqualTo("nic-port");
    }

    @Test
    void disabledPortsAreNoFault() {
        Path infiniband = eight().get(2);
        Path roce = tree.nic("mlx5_8", "0000:20:00.0", "Ethernet", "100 Gb/sec (4X EDR)");
        tree.write("sys/devices/pci0000:20/0000:20:1f.0/0000:20:00.0/net/ens1/flags", "0x1003\n");
        tree.run(check);
        HostTree.down(infiniband);
        HostTree.write(infiniband.resolve("phys_state"), "3: Disabled\n");
        HostTree.down(roce);
        HostTree.write(roce.resolve("phys_state"), "3: Disabled\n");
        assertThat(code(tree.run(check), "mlx5_2")).isEqualTo("nic-port-off");
        assertThat(code(tree.run(check), "mlx5_8"))
                .as("an Ethernet port without a cable says Disabled as well")
                .isEqualTo("nic-port-down");
        tree.write("sys/devices/pci0000:20/0000:20:1f.0/0000:20:00.0/net/ens1/flags", "0x1002\n");
        assertThat(code(tree.run(check), "mlx5_8")).isEqualTo("nic-port-off");
    }

    @Test
    void missingSubnetManagerIsReported() {
        Path port = eight().get(0);
        tree.run(check);
        HostTree.write(port.resolve("state"), "2: INIT\n");
        assertThat(about(tree.run(check), "mlx5_0").orElseThrow().message())
                .contains("no subnet manager has configured it (INIT, LinkUp)");
    }

    @Test
    void linksMayTrainWhileTheNodeStarts() {
        HostTree.down(eight().get(5));
        tree.write("proc/uptime", "599.00 5.00\n");
        assertThat(code(tree.run(check), "mlx5_5")).isEqualTo("nic-port-training");
        tree.write("proc/uptime", "600.00 5.00\n");
        assertThat(code(tree.run(check), "mlx5_5")).isEqualTo("nic-port-unused");
    }

    @Test
    void slowerLinkIsReportedAgainstPeersOrItsEarlierRate() {
        List<Path> ports = eight();
        HostTree.up(ports.get(6), "200 Gb/sec (4X HDR)");
        Finding finding = about(tree.run(check), "mlx5_6").orElseThrow();
        assertThat(finding.outcome()).isEqualTo(Outcome.WARN);
        assertThat(finding.message()).isEqualTo("mlx5_6 runs at 200 Gb/s, expected 400 as the others of its kind");
        Path lonely = tree.nic("mlx5_9", "0000:30:00.0", "Ethernet", "100 Gb/sec (4X EDR)");
        tree.run(check);
        HostTree.up(lonely, "50 Gb/sec (2X EDR)");
        assertThat(about(tree.run(check), "mlx5_9").orElseThrow().message())
                .isEqualTo("mlx5_9 runs at 50 Gb/s, expected 100 as before");
    }

    @Test
    void threeLossesWithinAnHourAreFlappingUntilAQuietHour() {
        Path port = eight().get(4);
        tree.run(check);
        HostTree.write(port.resolve("counters/link_downed"), "2\n");
        assertThat(code(tree.run(check), "mlx5_4")).isEqualTo("nic-port");
        HostTree.write(port.resolve("counters/link_downed"), "3\n");
        Finding finding = about(tree.run(check), "mlx5_4").orElseThrow();
        assertThat(finding.code()).isEqualTo("nic-port-flapping");
        assertThat(finding.action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
        assertThat(code(tree.run(check, 200), "mlx5_4")).isEqualTo("nic-port-flapping");
        assertThat(code(tree.run(check, 50), "mlx5_4")).isEqualTo("nic-port");
    }

    @Test
    void lossesBeforeTheStartAreNoFlaps() {
        Path port = eight().get(4);
        HostTree.write(port.resolve("counters/link_downed"), "40\n");
        tree.write("proc/uptime", "60.00 5.00\n");
        tree.run(check);
        HostTree.write(port.resolve("counters/link_downed"), "44\n");
        assertThat(code(tree.run(check), "mlx5_4")).isEqualTo("nic-port");
        tree.write("proc/uptime", "700.00 5.00\n");
        assertThat(code(tree.run(check), "mlx5_4")).isEqualTo("nic-port");
        HostTree.write(port.resolve("counters/link_downed"), "0\n");
        assertThat(code(tree.run(check), "mlx5_4")).isEqualTo("nic-port");
    }

    @Test
    void runsAreComparedWithoutACounter() throws Exception {
        Path port = tree.nic("efa_0", "0000:40:00.0", "Ethernet", "100 Gb/sec (4X EDR)");
        Files.delete(port.resolve("counters/link_downed"));
        tree.run(check);
        for (int i = 0; i < 3; i++) {
            HostTree.down(port);
            tree.run(check, 2);
            HostTree.up(port, "100 Gb/sec (4X EDR)");
            tree.run(check);
        }
        assertThat(code(tree.run(check), "efa_0")).isEqualTo("nic-port-flapping");
    }

    @Test
    void deviceOffTheBusFailsAndDeviceOnTheBusWarns() {
        eight();
        tree.run(check);
        tree.delete("sys/class/infiniband/mlx5_1");
        assertThat(about(tree.run(check), "mlx5_1").orElseThrow().outcome())
                .as("it may be in a container's network namespace")
                .isEqualTo(Outcome.WARN);
        tree.delete("sys/bus/pci/devices/0000:11:00.0");
        Finding finding = about(tree.run(check), "mlx5_1").orElseThrow();
        assertThat(finding.code()).isEqualTo("nic-gone");
        assertThat(finding.action()).isEqualTo(RecommendedAction.RESTART_BM);
        assertThat(tree.run(check, 10)).extracting(Finding::code).contains("nic-gone");
    }

    @Test
    void renamedOrPassedThroughDeviceIsNotGone() throws Exception {
        eight();
        tree.run(check);
        tree.delete("sys/class/infiniband/mlx5_1");
        tree.link("sys/class/infiniband/ibp17s0", "sys/devices/pci0000:11/0000:11:1f.0/0000:11:00.0/infiniband/mlx5_1");
        tree.delete("sys/class/infiniband/mlx5_2");
        Files.delete(folder.resolve("sys/devices/pci0000:12/0000:12:1f.0/0000:12:00.0/driver"));
        tree.link("sys/devices/pci0000:12/0000:12:1f.0/0000:12:00.0/driver", "sys/bus/pci/drivers/vfio-pci");
        assertThat(tree.run(check, 5)).allSatisfy(f -> assertThat(f.outcome()).isEqualTo(Outcome.PASS));
    }

    @Test
    void expectedPortsAreCountedWithTheirRate() {
        List<Path> ports = eight();
        tree.expectPorts(8, 400);
        assertThat(code(tree.run(check), "nic-ports")).isEqualTo("nic-ports");
        HostTree.down(ports.get(1));
        HostTree.up(ports.get(2), "200 Gb/sec (4X HDR)");
        Finding finding = about(tree.run(check), "nic-ports").orElseThrow();
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.message())
                .isEqualTo("expected 8 active network ports at 400 Gb/s or more, found 6:"
                        + " mlx5_1 is DOWN, Polling; mlx5_2 runs at 200 Gb/s");
    }

    @Test
    void expectedPortsAreMissedWithoutHardware() {
        tree.expectPorts(8, 0);
        assertThat(tree.run(check))
                .singleElement()
                .extracting(Finding::message)
                .isEqualTo("expected 8 active network ports, found 0");
    }

    @Test
    void virtualFunctionsAndExcludedDevicesAreIgnored() {
        List<Path> ports = eight();
        HostTree.down(ports.get(0));
        HostTree.down(ports.get(1));
        tree.write("sys/devices/pci0000:10/0000:10:1f.0/0000:10:00.0/physfn/vendor", "0x15b3\n");
        tree.leaveOut("mlx5_1");
        assertThat(tree.run(check))
                .hasSize(6)
                .allSatisfy(f -> assertThat(f.outcome()).isEqualTo(Outcome.PASS));
    }

    @Test
    void filesOfAnExcludedDeviceAreNotOpened() throws Exception {
        tree.folder("sys/class/infiniband");
        // A pipe without a writer: a reader that opened it would wait without end.
        Path port = folder.resolve("sys/class/infiniband/mlx5_bond_0/ports/1");
        Files.createDirectories(port);
        assertThat(new ProcessBuilder("mkfifo", port.resolve("state").toString())
                        .start()
                        .waitFor())
                .isZero();
        tree.leaveOut("mlx5_bond_0");
        assertThat(java.util.concurrent.CompletableFuture.supplyAsync(() -> tree.run(check))
                        .get(10, java.util.concurrent.TimeUnit.SECONDS))
                .isEmpty();
    }

    @Test
    void efaStateComesFromItsInterface() throws Exception {
        tree.nic("rdmap0s6", "0000:50:00.0", "Unknown", "100 Gb/sec (4X EDR)");
        String device = "sys/devices/pci0000:50/0000:50:1f.0/0000:50:00.0";
        Files.delete(folder.resolve(device + "/driver"));
        tree.link(device + "/driver", "sys/bus/pci/drivers/efa");
        tree.write(device + "/net/ens6/operstate", "up\n");
        tree.write(device + "/net/ens6/flags", "0x1003\n");
        assertThat(code(tree.run(check), "rdmap0s6")).isEqualTo("nic-port");
        tree.write(device + "/net/ens6/operstate", "down\n");
        assertThat(code(tree.run(check), "rdmap0s6")).isEqualTo("nic-port-down");
    }

    @Test
    void unreadablePortIsUnknown() throws Exception {
        Path port = eight().get(7);
        Files.delete(port.resolve("state"));
        Finding finding = about(tree.run(check), "mlx5_7").orElseThrow();
        assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(finding.message()).contains("/state does not exist");
    }

    @Test
    void threeRunsConfirmWhichIsLongerThanAFlap() {
        assertThat(check.info().every().multipliedBy(check.info().confirm() - 1L))
                .isGreaterThanOrEqualTo(Duration.ofSeconds(25));
    }
}
