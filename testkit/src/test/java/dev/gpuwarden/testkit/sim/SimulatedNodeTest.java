package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.testkit.scenario.Scenarios;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class SimulatedNodeTest {

    static List<String> builtIn() {
        return Scenarios.names();
    }

    @ParameterizedTest
    @MethodSource("builtIn")
    void everyBuiltInScenarioCreatesAndDeletesANode(String name) {
        Path root;
        try (SimulatedNode node = SimulatedNode.start(name)) {
            root = node.root();
            assertThat(node.libraryPath()).isRegularFile();
            assertThat(node.control().gpuCount())
                    .isEqualTo(node.scenario().gpus().size());
            assertThat(node.scenario().description()).isNotEmpty();
            Set<String> uuids = new HashSet<>();
            for (int i = 0; i < node.control().gpuCount(); i++) {
                assertThat(uuids.add(node.control().table().text("gpu[" + i + "].uuid")))
                        .isTrue();
            }
            node.advanceTo(Duration.ofDays(1));
        }
        assertThat(root).doesNotExist();
    }

    @Test
    void equalScenariosCreateEqualNodes() {
        try (SimulatedNode one = SimulatedNode.start("h100x8");
                SimulatedNode other = SimulatedNode.start("h100x8")) {
            assertThat(one.control().table().text("gpu[3].uuid"))
                    .isEqualTo(other.control().table().text("gpu[3].uuid"))
                    .matches("GPU-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
            assertThat(one.libraryPath()).isNotEqualTo(other.libraryPath());
        }
    }

    @Test
    void memoryInUseFollowsProcesses() {
        try (SimulatedNode node = SimulatedNode.start("memory-hog")) {
            SimTable table = node.control().table();
            assertThat(table.number("gpu[0].mem_used")).isEqualTo(78L << 30);
            node.set("process.61001.bytes", "10GiB");
            assertThat(table.number("gpu[0].mem_used")).isEqualTo(16L << 30);
            node.set("process.61001", "stop");
            assertThat(table.number("gpu[0].mem_used")).isEqualTo(6L << 30);
            assertThat(table.number("header.process_count")).isEqualTo(1);
            assertThat(table.number("process[0].pid")).isEqualTo(62001);
            assertThat(node.procfs().resolve("61001")).doesNotExist();
            assertThatThrownBy(() -> node.set("process.62001.bytes", "80GiB"))
                    .isInstanceOf(UserError.class)
                    .hasMessageContaining("process 62001: expected at most");
            assertThat(table.number("gpu[0].mem_used")).isEqualTo(6L << 30);
        }
    }

    @Test
    void refusedChangeLeavesTableUnchanged() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            assertThatThrownBy(() -> node.set("gpu.0.temperatur", "91")).isInstanceOf(UserError.class);
            assertThatThrownBy(() -> node.set("process.5", "stop")).isInstanceOf(UserError.class);
            assertThat(node.control().table().number("header.sequence") % 2).isZero();
        }
    }

    @Test
    void hotterGpuHasLessMargin() {
        try (SimulatedNode node = SimulatedNode.start("h200x8")) {
            node.set("gpu.3.temperature", "91");
            assertThat(node.control().table().number("gpu[3].temp_gpu")).isEqualTo(91);
            assertThat(node.control().table().number("gpu[3].temp_margin")).isEqualTo(59 - (91 - 28));
            assertThat(node.control().table().number("gpu[2].temp_gpu")).isEqualTo(28);
            node.set("gpu.all.temperature", "absent");
            assertThat(node.control().table().number("gpu[0].temp_gpu")).isEqualTo(SimLayout.ABSENT);
        }
    }

    @Test
    void timelineStopsAtGivenTime() {
        try (SimulatedNode node = SimulatedNode.start("demo")) {
            SimTable table = node.control().table();
            long lost = table.layout().constant("STATE_LOST");
            node.advanceTo(Duration.ofMillis(7999));
            assertThat(table.number("gpu[3].state")).isZero();
            node.advanceTo(Duration.ofSeconds(8));
            assertThat(table.number("gpu[3].state")).isEqualTo(lost);
            assertThat(table.number("header.event_head")).isEqualTo(1);
            assertThat(table.number("event[0].data")).isEqualTo(79);
            node.advanceTo(Duration.ofSeconds(59));
            assertThat(table.number("gpu[3].state")).isZero();
            assertThat(node.procfs().resolve("66001/cgroup")).exists();
            node.advanceTo(Duration.ofMinutes(2));
            assertThat(node.procfs().resolve("66001")).doesNotExist();
        }
    }

    @Test
    void nodeCanBeChangedByItsFolder() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            NodeControl elsewhere = NodeControl.open(node.root());
            elsewhere.set("fault.slow", "{function: nvmlDeviceGetPowerUsage, delay: 250ms}");
            elsewhere.set("gpu.1.nvlink.5.state", "down");
            SimTable table = node.control().table();
            assertThat(table.number("fault[0].mode")).isEqualTo(table.layout().constant("FAULT_DELAY"));
            assertThat(table.number("fault[0].delay_us")).isEqualTo(250_000);
            assertThat(table.number("gpu[1].link[5].state")).isZero();
            assertThat(table.number("gpu[1].link[4].state")).isEqualTo(1);
            node.set("fault.slow", "clear");
            assertThat(table.number("fault[0].mode")).isZero();
            assertThatThrownBy(() -> elsewhere.set("fault.slow", "clear"))
                    .hasMessageContaining("fault \"slow\": expected one of []");
        }
    }

    @Test
    void procShowsProcesses() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("cgroup-zoo")) {
            String stat = Files.readString(node.procfs().resolve("1027/stat"));
            assertThat(stat).startsWith("1027 (hostile) name () S 1 ");
            long began =
                    Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19]) / 100;
            assertThat(began).isBetween(30 * 86400 - 3600L, 30 * 86400 - 3600L + 60);
            assertThat(node.procfs().resolve("1/cgroup")).hasContent("0::/init.scope");
            assertThat(node.procfs().resolve("1029")).doesNotExist();
            assertThat(node.podLogs().toFile().list()).hasSize(10);
            assertThat(Files.readSymbolicLink(node.procfs().resolve("1001/ns/pid")))
                    .hasToString("pid:[4026531836]");
        }
    }

    @Test
    void busShowsGpusThatDriverOmits() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("fallen")) {
            Path bus = node.sysfs().resolve("bus/pci/devices");
            assertThat(gpusOn(bus)).hasSize(8);
            assertThat(bus.resolve("0000:c0:00.0/vendor")).hasContent("0x10de");
            assertThat(bus.resolve("0000:c0:00.0/class")).hasContent("0x030200");
            assertThat(bus.resolve("0000:c0:00.0/numa_node")).hasContent("1");
            node.set("gpu.6.on-bus", "no");
            assertThat(gpusOn(bus)).hasSize(7);
            node.set("gpu.7.pci.address", "0000:e0:00.0");
            node.set("gpu.7.pcie.generation", "1");
            assertThat(bus.resolve("0000:d8:00.0")).doesNotExist();
            assertThat(bus.resolve("0000:e0:00.0/current_link_speed")).hasContent("2.5 GT/s PCIe");
            assertThat(bus.resolve("0000:e0:00.0/numa_node")).hasContent("1");
        }
    }

    private static List<Path> gpusOn(Path bus) throws IOException {
        try (Stream<Path> devices = Files.list(bus)) {
            return devices.filter(d -> {
                        try {
                            return Files.readString(d.resolve("class")).startsWith("0x03");
                        } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    })
                    .toList();
        }
    }

    @Test
    void partitionsHaveOwnMemoryAndIdentity() {
        try (SimulatedNode node = SimulatedNode.start("a100-mig")) {
            SimTable table = node.control().table();
            assertThat(table.number("gpu[0].mig_current")).isEqualTo(1);
            assertThat(table.number("gpu[1].mig_current")).isZero();
            assertThat(table.text("gpu[0].mig[2].name")).isEqualTo("NVIDIA A100-SXM4-80GB MIG 1g.10gb");
            assertThat(table.number("gpu[0].mig[2].mem_used")).isEqualTo(4L << 30);
            assertThat(table.number("gpu[0].mem_used")).isEqualTo(34L << 30);
            assertThat(List.of(
                            table.number("gpu[0].mig[0].gi"),
                            table.number("gpu[0].mig[1].gi"),
                            table.number("gpu[0].mig[2].gi"),
                            table.number("gpu[0].mig[3].gi")))
                    .containsExactly(1L, 3L, 7L, 8L);
            assertThat(table.number("process[1].gi")).isEqualTo(7);
        }
    }

    @Test
    void frozenTimeIsWrittenAsNanoseconds() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            node.freezeTime(Instant.parse("2026-01-01T00:00:00Z"));
            assertThat(node.control().table().number("header.frozen_time_ns")).isEqualTo(1767225600L * 1_000_000_000);
        }
    }
}
