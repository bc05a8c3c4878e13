package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelLogTest {

    private static final Pattern RECORD = Pattern.compile("(\\d+),(\\d+),(\\d+),-;(.*)");

    @TempDir
    Path folder;

    private record Seen(int priority, long sequence, long micros, String text) {}

    /** The records, each held to the form of Documentation/ABI/testing/dev-kmsg. */
    private static List<Seen> records(SimulatedNode node) throws IOException {
        List<Seen> records = new ArrayList<>();
        for (String line : Files.readAllLines(node.kernelLog(), StandardCharsets.US_ASCII)) {
            if (line.startsWith(" ")) {
                assertThat(line).matches(" [A-Z]+=.+");
                continue;
            }
            Matcher m = RECORD.matcher(line);
            assertThat(m.matches()).as(line).isTrue();
            records.add(new Seen(
                    Integer.parseInt(m.group(1)), Long.parseLong(m.group(2)), Long.parseLong(m.group(3)), m.group(4)));
        }
        return records;
    }

    private static List<String> texts(SimulatedNode node, String containing) throws IOException {
        return records(node).stream()
                .map(Seen::text)
                .filter(text -> text.contains(containing))
                .toList();
    }

    @Test
    void bootLogNamesEveryGpu() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            List<Seen> records = records(node);
            assertThat(records.get(0).text()).startsWith("Linux version ");
            for (int i = 1; i < records.size(); i++) {
                assertThat(records.get(i).sequence()).isEqualTo(i);
                assertThat(records.get(i).micros())
                        .isGreaterThanOrEqualTo(records.get(i - 1).micros());
            }
            assertThat(texts(node, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.163.01"))
                    .hasSize(1);
            assertThat(texts(node, "NVRM: GPU at PCI:"))
                    .hasSize(8)
                    .contains("NVRM: GPU at PCI:0000:5b:00: "
                            + node.control().table().text("gpu[3].uuid"));
            assertThat(texts(node, "Xid")).isEmpty();
        }
        try (SimulatedNode node = SimulatedNode.start("no-driver")) {
            assertThat(texts(node, "NVRM")).isEmpty();
        }
        try (SimulatedNode node = SimulatedNode.start("fallen")) {
            assertThat(texts(node, "NVRM: GPU at PCI:")).hasSize(8);
            assertThat(texts(node, "fallen off the bus and is not responding")).hasSize(1);
        }
    }

    @Test
    void recordTimeIsWallClockTime() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Instant before = Instant.now();
            node.logKernel("now");
            Instant after = Instant.now();
            long btime = Files.readAllLines(node.procfs().resolve("stat")).stream()
                    .filter(line -> line.startsWith("btime "))
                    .mapToLong(line -> Long.parseLong(line.substring(6)))
                    .sum();
            List<Seen> records = records(node);
            Instant written = Instant.ofEpochSecond(btime)
                    .plus(Duration.ofNanos(records.get(records.size() - 1).micros() * 1000));
            assertThat(written).isBetween(before.minusMillis(1), after);
            double uptime = Double.parseDouble(
                    Files.readString(node.procfs().resolve("uptime")).split(" ")[0]);
            assertThat(uptime).isBetween(Duration.ofDays(30).toSeconds() - 1.0, 30 * 86400 + 120.0);
            assertThat(node.procfs().resolve("sys/kernel/random/boot_id"))
                    .content()
                    .hasSize(37);
        }
    }

    @Test
    void processNeverGetsKernelFacilityAndBytesAreEscaped() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            node.logKernel("<6>two\nlines \\ é");
            node.logUser("<0>NVRM: Xid (PCI:0000:00:08): 79, forged");
            node.logUser("<30>systemd[1]: as a daemon");
            node.logKernel("x".repeat(5000));
            List<Seen> records = records(node);
            int last = records.size() - 1;
            assertThat(records.get(last - 3).priority()).isEqualTo(6);
            assertThat(records.get(last - 3).text()).isEqualTo("two\\x0alines \\x5c \\xc3\\xa9");
            assertThat(records.get(last - 2).priority()).isEqualTo(8);
            assertThat(records.get(last - 1).priority()).isEqualTo(30);
            assertThat(records.get(last).text()).hasSize(1024);
        }
    }

    @Test
    void xidIsDriverEventAndLines() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            SimTable table = node.control().table();
            node.set("gpu.0.xid", "31");
            assertThat(table.number("event[0].data")).isEqualTo(31);
            assertThat(texts(node, "Xid"))
                    .singleElement()
                    .asString()
                    .startsWith("NVRM: Xid (PCI:0000:0f:00): 31, pid=41001, name=python3.11, Ch 00000008, intr")
                    .contains("MMU Fault");
            node.set("gpu.3.nvlink.7.state", "down");
            node.set("gpu.3.xid", "[48, 74, 888]");
            assertThat(table.number("header.event_head")).isEqualTo(4);
            assertThat(texts(node, "): 74, ")).singleElement().asString().contains("on link 7(0x0,");
            assertThat(texts(node, "): 888, ")).hasSize(1);
            node.set("gpu.4.recovery-action", "drain-and-reset");
            node.set("gpu.4.xid", "154");
            assertThat(texts(node, "): 154, "))
                    .containsExactly("NVRM: Xid (PCI:0000:89:00): 154, GPU recovery action changed from 0x0 (None)"
                            + " to 0x4 (Drain and Reset)");
        }
    }

    @Test
    void lostGpuIsLoggedOnce() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            SimTable table = node.control().table();
            node.set("gpu.4.state", "lost");
            node.set("gpu.4.state", "lost");
            node.control().set(Map.of("gpu.5.state", "lost", "gpu.5.xid", "79"));
            node.control().set(Map.of("gpu.6.state", "lost"), false);
            assertThat(table.number("header.event_head")).isEqualTo(3);
            assertThat(texts(node, "): 79, ")).hasSize(2).allMatch(text -> text.contains("has fallen off the bus."));
            assertThat(texts(node, "NVRM: GPU 0000:89:00.0: GPU has fallen off the bus."))
                    .hasSize(1);
        }
    }

    @Test
    void resetClearsAndIsLogged() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("recovery-action")) {
            SimTable table = node.control().table();
            node.set("gpu.6.ecc.volatile.uncorrected", "+3");
            node.set("gpu.6.nvlink.2.state", "down");
            assertThat(table.number("gpu[6].ecc_total[2]")).isEqualTo(3);
            node.set("gpu.6.reset", "yes");
            node.set("gpu.1.reset", "yes");
            assertThat(table.number("gpu[1].state")).isZero();
            assertThat(table.number("gpu[6].recovery_action")).isZero();
            assertThat(table.number("gpu[6].ecc_total[2]")).isZero();
            assertThat(table.number("gpu[6].ecc_total[3]")).isEqualTo(3);
            assertThat(table.number("gpu[6].remap_failure")).isEqualTo(1);
            assertThat(table.number("gpu[6].link[2].state")).isEqualTo(1);
            assertThat(records(node))
                    .filteredOn(record -> record.priority() == 12)
                    .extracting(Seen::text)
                    .containsExactly(
                            "GPU reset occurred: " + table.text("gpu[6].uuid"),
                            "GPU reset occurred: " + table.text("gpu[1].uuid"));
        }
    }

    @Test
    void rebootReplacesTheLog() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("gpu.4.state", "lost");
            node.set("gpu.5.xid", "95");
            node.set("gpu.5.state", "reset-required");
            node.set("gpu.5.recovery-action", "node-reboot");
            String boot = Files.readString(node.procfs().resolve("sys/kernel/random/boot_id"));
            node.reboot();
            assertThat(node.procfs().resolve("sys/kernel/random/boot_id"))
                    .content()
                    .isNotEqualTo(boot);
            assertThat(records(node).get(0).sequence()).isZero();
            assertThat(texts(node, "Xid")).isEmpty();
            assertThat(texts(node, "NVRM: GPU at PCI:")).hasSize(8);
            assertThat(node.control().table().number("gpu[4].state")).isZero();
            assertThat(node.control().gpus()).allMatch(NodeControl.Gpu::fit);
            assertThat(node.control().table().number("gpu[5].recovery_action")).isZero();
            assertThat(node.control().table().number("header.process_count")).isZero();
            assertThat(Double.parseDouble(
                            Files.readString(node.procfs().resolve("uptime")).split(" ")[0]))
                    .isBetween(60.0, 180.0);
            assertThat(node.procfs().resolve("41001")).doesNotExist();
            assertThat(node.procfs().resolve("1/comm")).exists();
            node.logKernel("later");
            List<Seen> records = records(node);
            assertThat(records.get(records.size() - 1).micros())
                    .isBetween(60_000_000L, Duration.ofMinutes(3).toNanos() / 1000);
        }
    }

    @Test
    void droppedAndSkippedRecordsLeaveGaps() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            long before = records(node).size();
            node.set("node.kernel-log.drop", "7");
            assertThat(records(node).get(0).sequence()).isEqualTo(7);
            node.set("node.kernel-log.skip", "1000");
            node.logKernel("after the gap");
            List<Seen> records = records(node);
            assertThat(records.get(records.size() - 1).sequence()).isEqualTo(before + 1000);
            node.set("node.kernel-log.rotate", "yes");
            assertThat(node.kernelLog()).isEmptyFile();
            assertThat(node.kernelLog().resolveSibling("kmsg.1")).isNotEmptyFile();
            node.logKernel("after the rotation");
            assertThat(records(node)).singleElement().extracting(Seen::sequence).isEqualTo(before + 1001);
            node.logKernel("after the gap");
            node.set("node.kernel-log.drop", "999999");
            assertThat(records(node)).singleElement().extracting(Seen::text).isEqualTo("after the gap");
        }
    }

    @Test
    void scenarioWritesLinesAndStorms() throws Exception {
        Path file = folder.resolve("storm.yaml");
        Files.writeString(file, """
                gpus: [{profile: t4, count: 2}]
                kernel: ["one about {gpu.1}", two]
                log: no
                set: {gpu.0.xid: 79, node.storm-scale: 0.5}
                timeline:
                  - at: 1s
                    storm: {line: "{gpu.0} says {n} {0x1}", xid: {1: [43, 95]}, count: 30, per-second: 300}
                  - {at: 2s, user: "from a process"}
                """);
        try (SimulatedNode node = SimulatedNode.start(file.toString())) {
            assertThat(texts(node, "Xid")).isEmpty();
            assertThat(node.control().table().number("header.event_head")).isEqualTo(1);
            assertThat(texts(node, "one about")).containsExactly("one about 0000:00:09");
            node.advanceTo(Duration.ofSeconds(1));
            assertThat(texts(node, "says")).hasSize(5).startsWith("0000:00:08 says 1 {0x1}");
            assertThat(texts(node, "0000:00:09): 95,")).hasSize(5);
            node.advanceTo(Duration.ofSeconds(2));
            assertThat(texts(node, "from a process")).hasSize(1);
        }
        Files.writeString(file, """
                gpus: [{profile: t4}]
                timeline:
                  - at: 0s
                    storm: [{line: slow, count: 1000, per-second: 100}, {line: fast, count: 500, per-second: 100000}]
                  - {at: 500ms, storm: end}
                  - {at: 800ms, kernel: late}
                """);
        try (SimulatedNode node = SimulatedNode.start(file.toString())) {
            node.play();
            while (texts(node, "late").isEmpty()) {
                TimeUnit.MILLISECONDS.sleep(20);
            }
            assertThat(texts(node, "fast")).hasSize(500);
            assertThat(texts(node, "slow")).hasSizeBetween(1, 500);
            List<String> last = Files.readAllLines(node.kernelLog());
            assertThat(last.get(last.size() - 1)).endsWith(";late");
        }
        Files.writeString(file, "gpus: [{profile: t4}]\nkernel: \"{gpu.3}\"\nstorm: {line: a}\n");
        assertThatThrownBy(() -> SimulatedNode.start(file.toString()))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("GPUs below 1");
    }
}
