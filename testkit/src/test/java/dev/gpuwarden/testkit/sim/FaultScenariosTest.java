package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The scenarios that are about faults show them where hardware would. */
class FaultScenariosTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "xid79 | 79 | 0000:89:00 | 1",
                "xid-app | 31 | 0000:44:00 | 752",
                "xid-app | 13 | 0000:44:00 | 756",
                "row-remap-failure | 64 | 0000:a8:00 | 1",
                "row-remap-pending | 63 | 0000:a8:00 | 1",
                "nvlink-flap | 74 | 0000:2d:00 | 3",
                "gpu-reset | 154 | 0000:2d:00 | 1",
                "nvlink5-b200 | 149 | 0000:44:00 | 1",
                "reboot | 79 | 0000:89:00 | 0",
                "fabric-down | 20034 | 0000:1b:00.0 | 2"
            })
    void kernelLogHasTheXidOfTheScenario(String scenario, int code, String pci, int times) throws IOException {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            node.advanceTo(Duration.ofHours(1));
            String told = "id (PCI:" + pci + "): " + code + ", ";
            assertThat(Files.readAllLines(node.kernelLog()))
                    .filteredOn(line -> line.contains(told))
                    .hasSize(times);
        }
    }

    @Test
    void stormHasTwentyNineFaults() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("xid-storm")) {
            node.advanceTo(Duration.ofSeconds(1));
            Pattern fault = Pattern.compile("Xid \\(PCI:([0-9a-f:]+)\\): (\\d+), ");
            List<String> faults = Files.readAllLines(node.kernelLog()).stream()
                    .map(fault::matcher)
                    .filter(Matcher::find)
                    .map(m -> m.group(1) + " " + m.group(2))
                    .toList();
            assertThat(faults).hasSize(20_000);
            assertThat(faults.stream().distinct()).hasSize(29);
        }
    }

    @Test
    void resetAndRebootClearFaults() throws IOException {
        try (SimulatedNode reset = SimulatedNode.start("gpu-reset");
                SimulatedNode reboot = SimulatedNode.start("reboot")) {
            assertThat(reset.control().table().number("gpu[1].state")).isEqualTo(2);
            reset.advanceTo(Duration.ofMinutes(1));
            reboot.advanceTo(Duration.ofMinutes(1));
            assertThat(reset.control().table().number("gpu[1].state")).isZero();
            assertThat(Files.readString(reset.kernelLog())).contains("GPU reset occurred: GPU-");
            assertThat(reboot.control().table().number("gpu[4].state")).isZero();
        }
    }

    @Test
    void countersOfLinksRise() {
        try (SimulatedNode ib = SimulatedNode.start("ib-flap");
                SimulatedNode aer = SimulatedNode.start("aer-errors")) {
            ib.advanceTo(Duration.ofMinutes(1));
            aer.advanceTo(Duration.ofMinutes(1));
            assertThat(ib.sysfs().resolve("class/infiniband/mlx5_3/ports/1/counters/link_downed"))
                    .hasContent("5");
            assertThat(ib.sysfs().resolve("class/infiniband/mlx5_3/ports/1/state"))
                    .hasContent("4: ACTIVE");
            assertThat(aer.sysfs().resolve("bus/pci/devices/0000:bf:01.0/aer_dev_fatal"))
                    .content()
                    .contains("SDES 1\n");
        }
    }
}
