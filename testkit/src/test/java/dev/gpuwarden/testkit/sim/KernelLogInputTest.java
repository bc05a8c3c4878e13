package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.Unchecked;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;

class KernelLogInputTest {

    private static List<String> records(SimulatedNode node) {
        return Unchecked.get(() -> Files.readAllLines(node.kernelLog(), StandardCharsets.US_ASCII));
    }

    private static String last(SimulatedNode node) {
        List<String> records = records(node);
        return records.get(records.size() - 1);
    }

    private static void awaitLast(SimulatedNode node, String regex) {
        Await.until(() -> last(node).matches(regex), () -> "expected " + regex + ", seen " + last(node));
    }

    @Test
    void writesBecomeRecordsOfUserSpace() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Path input = node.kernelLogInput();
            assertThat(Files.getPosixFilePermissions(input)).isEqualTo(PosixFilePermissions.fromString("rw-------"));
            Files.writeString(input, "<3>GPU reset occurred: GPU-a\n", StandardOpenOption.WRITE);
            awaitLast(node, "11,\\d+,\\d+,-;GPU reset occurred: GPU-a");
            // A shell does so; the device takes a write without a line end too.
            int code = new ProcessBuilder("sh", "-c", "printf '<0>NVRM: {gpu.9.pci} forged' >" + input)
                    .start()
                    .waitFor();
            assertThat(code).isZero();
            awaitLast(node, "8,\\d+,\\d+,-;NVRM: \\{gpu.9.pci} forged");
            String uptime = Files.readString(node.procfs().resolve("uptime"));
            node.set("node.reboot", "yes");
            Files.writeString(input, "\n\nafter the reboot\n", StandardOpenOption.WRITE);
            awaitLast(node, "12,\\d+,\\d+,-;after the reboot");
            assertThat(uptime).isNotEqualTo(Files.readString(node.procfs().resolve("uptime")));
        }
    }

    @Test
    void hostileWriterEndsNothingAndFillsNothing() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            int before = records(node).size();
            long start = System.nanoTime();
            Process writer = new ProcessBuilder(
                            "sh",
                            "-c",
                            "{ head -c 3000000 /dev/urandom; head -c 1000000 /dev/zero; yes '<999>x' | head -n 300000; } >"
                                    + node.kernelLogInput())
                    .start();
            assertThat(writer.waitFor()).isZero();
            long seconds = (System.nanoTime() - start) / 1_000_000_000 + 2;
            assertThat(records(node).size() - before)
                    .isLessThanOrEqualTo((int) (seconds * (KernelLogInput.MOST_PER_SECOND + 1)));
            Await.until(
                    () -> {
                        Unchecked.run(() ->
                                Files.writeString(node.kernelLogInput(), "still here\n", StandardOpenOption.WRITE));
                        return records(node).stream().anyMatch(line -> line.endsWith(";still here"));
                    },
                    () -> "expected a line after the flood, seen "
                            + records(node).get(records(node).size() - 1));
            assertThat(records(node)).anyMatch(line -> line.matches("4,.*;printk: \\d+ output lines suppressed.*"));
            assertThat(records(node)).allMatch(line -> line.length() < 4 * 1024 + 60);
        }
    }
}
