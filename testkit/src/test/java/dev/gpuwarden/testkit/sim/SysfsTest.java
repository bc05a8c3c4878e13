package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Keys;
import dev.gpuwarden.testkit.scenario.Keys.Key;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SysfsTest {

    @TempDir
    Path folder;

    private static Path port(SimulatedNode node, int nic) {
        return node.sysfs().resolve("class/infiniband/mlx5_" + nic + "/ports/1");
    }

    private static Path gpu(SimulatedNode node, String address) {
        return node.sysfs().resolve("bus/pci/devices").resolve(address);
    }

    private static List<String> lines(SimulatedNode node, String containing) throws IOException {
        return Files.readAllLines(node.kernelLog()).stream()
                .filter(line -> line.contains(containing))
                .map(line -> line.substring(line.indexOf(';') + 1))
                .toList();
    }

    @Test
    void boardHasItsNetworkDevices() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            assertThat(node.sysfs().resolve("class/infiniband").toFile().list()).hasSize(8);
            Path port = port(node, 3);
            assertThat(port.resolve("state")).hasContent("4: ACTIVE");
            assertThat(port.resolve("phys_state")).hasContent("5: LinkUp");
            assertThat(port.resolve("rate")).hasContent("400 Gb/sec (4X NDR)");
            assertThat(port.resolve("link_layer")).hasContent("InfiniBand");
            assertThat(port.resolve("counters/link_downed")).hasContent("0");
            assertThat(port.resolve("hw_counters/out_of_sequence")).hasContent("0");
            Path device = node.sysfs().resolve("class/infiniband/mlx5_3/device");
            assertThat(device.toRealPath())
                    .isEqualTo(gpu(node, "0000:58:00.0").toRealPath())
                    .endsWith(Path.of("devices/pci0000:57/0000:57:01.0/0000:58:00.0"));
            assertThat(device.resolve("vendor")).hasContent("0x15b3");
            assertThat(device.resolve("class")).hasContent("0x020700");
            assertThat(device.resolve("driver").toRealPath()).hasFileName("mlx5_core");
            assertThat(device.resolve("net/ibp88s0/operstate")).hasContent("up");
            assertThat(node.sysfs().resolve("class/net/ibp88s0/device").toRealPath())
                    .isEqualTo(device.toRealPath());
        }
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            assertThat(node.sysfs().resolve("class/infiniband")).doesNotExist();
        }
        try (SimulatedNode node = SimulatedNode.start("big64")) {
            assertThat(node.sysfs().resolve("class/infiniband").toFile().list()).hasSize(8);
        }
    }

    @Test
    void linkDownAndUpIsCounted() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h200x8")) {
            node.set("nic.2.state", "down");
            Path port = port(node, 2);
            assertThat(port.resolve("state")).hasContent("1: DOWN");
            assertThat(port.resolve("phys_state")).hasContent("2: Polling");
            assertThat(port.resolve("rate")).hasContent("10 Gb/sec (4X SDR)");
            assertThat(port.resolve("counters/link_downed")).hasContent("1");
            assertThat(port.resolve("counters/symbol_error")).hasContent("0");
            assertThat(port(node, 1).resolve("counters/link_downed")).hasContent("0");
            Path net = node.sysfs().resolve("class/net/ibp65s0");
            assertThat(net.resolve("carrier")).hasContent("0");
            assertThat(net.resolve("carrier_down_count")).hasContent("1");
            node.set("nic.2.state", "active");
            node.set("nic.2.link_downed", "+3");
            assertThat(port.resolve("rate")).hasContent("400 Gb/sec (4X NDR)");
            assertThat(port.resolve("counters/link_downed")).hasContent("4");
            assertThat(lines(node, "mlx5_core 0000:41:00.0: Port module event"))
                    .containsExactly(
                            "mlx5_core 0000:41:00.0: Port module event: module 0, Cable plugged",
                            "mlx5_core 0000:41:00.0: Port module event: module 0, Cable unplugged",
                            "mlx5_core 0000:41:00.0: Port module event: module 0, Cable plugged");
            node.set("nic.all.rate", "200");
            assertThat(port.resolve("rate")).hasContent("200 Gb/sec (4X HDR)");
        }
    }

    @Test
    void scenarioSelectsEthernetOrNone() throws IOException {
        Path file = folder.resolve("roce.yaml");
        Files.writeString(
                file,
                "gpus: [{profile: h100-sxm5-80gb, count: 2}]\nnics: {link-layer: ethernet, rate: 200}\nset: {nic.1.state: down}\n");
        try (SimulatedNode node = SimulatedNode.start(file.toString())) {
            assertThat(port(node, 0).resolve("rate")).hasContent("200 Gb/sec (4X HDR)");
            assertThat(port(node, 1).resolve("phys_state")).hasContent("3: Disabled");
            assertThat(lines(node, "enp42s0np0: Link down")).hasSize(1);
            assertThatThrownBy(() -> node.set("nic.2.state", "down"))
                    .isInstanceOf(UserError.class)
                    .hasMessageContaining("a network device below 2");
        }
        Files.writeString(file, "gpus: [{profile: h100-sxm5-80gb}]\nnics: none\n");
        try (SimulatedNode node = SimulatedNode.start(file.toString())) {
            assertThat(node.sysfs().resolve("class/infiniband")).doesNotExist();
        }
    }

    @Test
    void deviceReturnsToTheBusUnchanged() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("a100x8")) {
            node.set("nic.5.link_downed", "7");
            node.set("nic.5.on-bus", "no");
            assertThat(port(node, 5)).doesNotExist();
            assertThat(gpu(node, "0000:94:00.0")).doesNotExist();
            assertThatThrownBy(() -> node.set("nic.5.state", "down"))
                    .hasMessageContaining("expected a device on the bus");
            node.set("nic.5.on-bus", "yes");
            assertThat(port(node, 5).resolve("counters/link_downed")).hasContent("7");
        }
    }

    @Test
    void busErrorsAreCountedAndLogged() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Path aer = gpu(node, "0000:5b:00.0").resolve("aer_dev_correctable");
            assertThat(aer).hasContent("""
                    RxErr 0
                    BadTLP 0
                    BadDLLP 0
                    Rollover 0
                    Timeout 0
                    NonFatalErr 0
                    CorrIntErr 0
                    HeaderOF 0
                    TOTAL_ERR_COR 0""");
            node.control()
                    .set(Map.of("gpu.3.aer.correctable.BadTLP", "+40", "gpu.3.aer.correctable.RxErr", "2"), false);
            assertThat(lines(node, "PCIe Bus Error")).isEmpty();
            assertThat(aer).content().contains("BadTLP 40\n", "RxErr 2\n", "TOTAL_ERR_COR 42\n");
            assertThat(gpu(node, "0000:0f:00.0").resolve("aer_dev_correctable"))
                    .content()
                    .contains("TOTAL_ERR_COR 0");
            node.set("gpu.3.aer.correctable.BadTLP", "+1");
            node.set("gpu.3.bridge.aer.fatal.SDES", "+1");
            node.set("nic.3.aer.nonfatal.CmpltTO", "+1");
            assertThat(gpu(node, "0000:5a:01.0").resolve("aer_dev_fatal"))
                    .content()
                    .contains("SDES 1\n", "TOTAL_ERR_FATAL 1");
            assertThat(lines(node, "AER: ").subList(1, 4))
                    .containsExactly(
                            "pcieport 0000:5a:01.0: AER: Corrected error received: 0000:5b:00.0",
                            "pcieport 0000:5a:01.0: AER: Uncorrected (Fatal) error received: 0000:5a:01.0",
                            "pcieport 0000:57:01.0: AER: Uncorrected (Non-Fatal) error received: 0000:58:00.0");
            assertThat(lines(node, "nvidia 0000:5b:00.0: "))
                    .endsWith(
                            "nvidia 0000:5b:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Receiver ID)",
                            "nvidia 0000:5b:00.0:   device [10de:2330] error status/mask=00000040/00002000",
                            "nvidia 0000:5b:00.0:    [ 6] BadTLP");
            node.set("node.reboot", "yes");
            assertThat(aer).content().contains("TOTAL_ERR_COR 0");
        }
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            assertThatThrownBy(() -> node.set("gpu.0.bridge.aer.fatal.SDES", "1"))
                    .hasMessageContaining("expected a device behind a port");
        }
    }

    @Test
    void bothEndsOfLinkReportItsWidth() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("gpu.3.pcie.width", "8");
            node.set("nic.3.pcie.generation", "3");
            assertThat(gpu(node, "0000:5b:00.0").resolve("current_link_width")).hasContent("8");
            assertThat(gpu(node, "0000:5b:00.0").resolve("max_link_width")).hasContent("16");
            assertThat(gpu(node, "0000:5a:01.0").resolve("current_link_width")).hasContent("8");
            assertThat(gpu(node, "0000:58:00.0").resolve("current_link_speed")).hasContent("8.0 GT/s PCIe");
            assertThat(gpu(node, "0000:58:00.0").resolve("max_link_speed")).hasContent("32.0 GT/s PCIe");
        }
    }

    @Test
    void everyDeviceKeyHasAValue() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            NicFiles nics = node.control().nics();
            NicFiles.Device device = nics.all().get(0);
            for (Key key : Keys.NIC.all()) {
                assertThat(nics.value(device, key)).as(key.name()).isPresent();
            }
            assertThat(nics.value(device, Keys.NIC.get("state"))).contains("active");
            assertThat(nics.value(device, Keys.NIC.get("pcie.generation"))).contains("5");
        }
    }
}
