package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command as a user runs it, against simulated drivers. */
class ScanCommandTest {

    @ParameterizedTest
    @CsvSource({
        "t4, 0, verdict: fit (1 GPU answers)",
        "h100x8, 0, verdict: fit (8 GPUs answer)",
        "a100-mig, 0, verdict: fit (",
        "driver-470, 0, verdict: fit (",
        "gpu-lost, 1, verdict: not fit (1 fault)",
        "fallen, 1, verdict: not fit (1 fault)",
        "recovery-action, 1, verdict: not fit (",
        "version-mismatch, 1, verdict: not fit (1 fault)",
        "no-driver, 1, verdict: not fit (1 fault)",
        "empty, 3, verdict: could not decide (no-gpu)",
        "liar, 0, verdict: fit (4 GPUs answer)",
    })
    void theExitCodeIsTheVerdict(String scenario, int exitCode, String verdict) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Program scan = Program.run(node, "scan");
            assertThat(scan.out()).contains(verdict);
            assertThat(scan.exitCode()).isEqualTo(exitCode);
            assertThat(scan.err()).isEmpty();
        }
    }

    @Test
    void aHungGpuIsNamedAndTheOthersAreRead() {
        try (SimulatedNode node = SimulatedNode.start("gpu-hang")) {
            Program scan = Program.run(node, "scan", "--driver.open-deadline=300ms", "--sampling.deadline=300ms");
            assertThat(scan.exitCode()).isEqualTo(1);
            assertThat(scan.out())
                    .contains("FAIL  gpu-hung  GPU 5: expected an answer within the deadline, but the driver hangs");
            assertThat(scan.out().lines().filter(line -> line.contains("answering")))
                    .hasSize(7);
            assertThat(scan.out()).contains("verdict: not fit (1 fault)");
        }
    }

    @Test
    void aGpuThatTheDriverDoesNotListIsNamedByItsPlaceOnTheBus() {
        try (SimulatedNode node = SimulatedNode.start("fallen")) {
            assertThat(Program.run(node, "scan").out())
                    .containsPattern("FAIL  gpu-missing  the PCI bus shows 8 NVIDIA GPUs, the driver lists 7:"
                            + " [0-9a-f]{4}:[0-9a-f]{2}:00\\.0 is not among them");
        }
    }

    @Test
    void hostileNamesDoNotReachTheTerminal() {
        try (SimulatedNode node = SimulatedNode.start("liar")) {
            Program scan = Program.run(node, "scan");
            assertThat(scan.out())
                    .doesNotContain("\u001b")
                    .doesNotContain("\u202e")
                    .contains("[31mred");
            assertThat(scan.out()).contains("WARN  implausible-values");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"no-driver", "version-mismatch", "empty"})
    void jsonIsStable(String scenario) throws IOException {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            String json = Program.run(node, "scan", "-o", "json").out();
            String stable = json.replace(node.root().toString(), "NODE")
                    .replaceAll("\"samplerPath\": \"[^\"]*\"", "\"samplerPath\": \"...\"");
            Golden.check("scan/" + scenario + ".json", stable);
        }
    }

    @Test
    void theTableIsStable() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("gpu-lost")) {
            Golden.check("scan/gpu-lost.txt", Program.run(node, "scan").out());
        }
        try (SimulatedNode node = SimulatedNode.start("a100-mig")) {
            Golden.check("scan/a100-mig.txt", Program.run(node, "scan").out());
        }
    }

    @Test
    void aMachineWithoutGpuIsUndecided(@TempDir Path sysfs) throws Exception {
        Assumptions.assumeFalse(Files.exists(Path.of("/proc/driver/nvidia")), "this machine has a driver");
        Files.createDirectories(sysfs.resolve("bus/pci/devices"));
        Program scan = Program.spawn("scan", "--path.sysfs=" + sysfs);
        assertThat(scan.exitCode()).isEqualTo(3);
        assertThat(scan.out())
                .startsWith("UNKNOWN  no-gpu  no NVIDIA GPU: the driver library is not there;"
                        + " the PCI bus shows no NVIDIA GPU")
                .endsWith("verdict: could not decide (no-gpu)\n");
        assertThat(scan.err()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "--sampling.deadline=fast",
                "--sampling.deadline=1ms",
                "--driver.path=ffm",
                "--sampling.slow-interval=500ms",
                "--no-such-option"
            })
    void wrongUsageEndsWith2(String option) {
        Program scan = Program.run("scan", option);
        assertThat(scan.exitCode()).isEqualTo(2);
        assertThat(scan.out()).isEmpty();
        assertThat(scan.err()).isNotEmpty();
    }
}
