package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
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
        "gpu-lost, 1, verdict: not fit (2 faults)",
        "fallen, 1, verdict: not fit (3 faults)",
        "recovery-action, 1, verdict: not fit (",
        "version-mismatch, 1, verdict: not fit (1 fault)",
        "no-driver, 1, verdict: not fit (1 fault)",
        "empty, 3, verdict: could not decide (no-gpu)",
        "liar, 3, verdict: could not decide (not-readable)",
    })
    void exitCodeIsTheVerdict(String scenario, int exitCode, String verdict) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Program scan = Program.run(node, "scan");
            assertThat(scan.out()).contains(verdict);
            assertThat(scan.exitCode()).isEqualTo(exitCode);
            assertThat(scan.err()).isEmpty();
        }
    }

    @Test
    void hungGpuIsNamedAndOthersAreRead() {
        try (SimulatedNode node = SimulatedNode.start("gpu-hang")) {
            Program scan = Program.run(node, "scan", "--driver.open-deadline=300ms", "--sampling.deadline=300ms");
            assertThat(scan.exitCode()).isEqualTo(1);
            assertThat(scan.out())
                    .containsPattern(
                            "FAIL  gpu-hung  GPU 5 \\(.*\\): expected an answer within the deadline, but the driver hangs");
            assertThat(scan.out().lines().filter(line -> line.contains("answering")))
                    .hasSize(7);
            assertThat(scan.out()).contains("verdict: not fit (1 fault)");
        }
    }

    /** The prolog of a job gets an answer in time, even if a GPU does not answer. */
    @Test
    void deadlineEndsTheScanUndecided() {
        try (SimulatedNode node = SimulatedNode.start("gpu-hang")) {
            Program scan = Program.run(node, "scan", "--deadline=2s");
            assertThat(scan.out())
                    .containsPattern("\\n5 .* starting ")
                    .containsPattern("\\nUNKNOWN  ")
                    .contains("verdict: could not decide");
            assertThat(scan.exitCode()).isEqualTo(3);
        }
        assertThat(Program.run("scan", "--deadline=10ms").err())
                .contains("--deadline: expected at least 1s, found 10ms");
    }

    @Test
    void unlistedGpuIsNamedByItsBusAddress() {
        try (SimulatedNode node = SimulatedNode.start("fallen")) {
            assertThat(Program.run(node, "scan").out())
                    .containsPattern("FAIL  gpu-missing  the PCI bus shows 8 NVIDIA GPUs, the driver lists 7:"
                            + " [0-9a-f]{4}:[0-9a-f]{2}:00\\.0 is not among them");
        }
    }

    /** Exit code, and the message about the kernel log. */
    @ParameterizedTest
    @CsvSource({
        "xid79, 1, FAIL  xid-79",
        "xid-app, 0, WARN  xid-31",
        "row-remap-failure, 1, FAIL  xid-64",
    })
    void kernelLogSinceTheBootAffectsTheVerdict(String scenario, int exitCode, String output) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Program scan = Program.run(node, "scan");
            assertThat(scan.out()).contains(output);
            assertThat(scan.exitCode()).as(scan.out()).isEqualTo(exitCode);
        }
    }

    @Test
    void faultsBeforeTheBootAreIgnored() {
        try (SimulatedNode node = SimulatedNode.start("reboot")) {
            assertThat(Program.run(node, "scan").out()).contains("FAIL  xid-79");
            node.advanceTo(Duration.ofHours(1));
            Program scan = Program.run(node, "scan");
            assertThat(scan.out()).contains("verdict: fit (8 GPUs answer)").doesNotContain("xid-79");
        }
    }

    @Test
    void disabledChecksAreNotRead() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            node.logKernel("<3>NVRM: Xid (PCI:0000:00:1e): 48, pid=1, name=python, DBE");
            assertThat(Program.run(node, "check", "kernel-log").out()).contains("xid-48");
            Program off = Program.run(node, "scan", "--check.disable=kernel-log");
            assertThat(off.out()).doesNotContain("xid-48");
            assertThat(off.exitCode()).isZero();
        }
    }

    @Test
    void nodeProblemDetectorRulesAreMatched(@TempDir Path folder) throws IOException {
        Path rules = folder.resolve("storage.json");
        Files.writeString(rules, """
                {"plugin": "kmsg", "source": "storage-monitor",
                 "conditions": [{"type": "NvmeBroken", "reason": "NvmeIsFine", "message": "fine"}],
                 "rules": [{"type": "permanent", "condition": "NvmeBroken", "reason": "NvmeTimeout",
                            "pattern": "nvme nvme\\\\d+: I/O timeout.*"}]}
                """);
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            node.logKernel("<4>nvme nvme0: I/O timeout, completion polled");
            assertThat(Program.run(node, "scan", "--npd.log-monitor=" + rules).out())
                    .containsIgnoringCase("nvmetimeout")
                    .contains("nvme nvme0: I/O timeout");
        }
    }

    @Test
    void unreadableKernelLogIsUndecided() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            Program scan = Program.run(
                    "scan",
                    "--driver.library-path=" + node.libraryPath(),
                    "--path.sysfs=" + node.sysfs(),
                    "--path.procfs=" + node.procfs(),
                    "--kernel-log.source=kmsg",
                    "--kernel-log.path=/nonexistent");
            assertThat(scan.out()).contains("UNKNOWN  kernel-log-unreadable", "/nonexistent");
            assertThat(scan.exitCode()).isEqualTo(3);
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
            // The shape of JSON; what each check finds is in its own tests.
            String some = "--check.only=driver,gpu-count,gpu-state,gpu-readings";
            String json = Program.run(node, "scan", "-o", "json", some).out();
            String stable = json.replace(node.root().toString(), "NODE")
                    .replaceAll("\"samplerPath\": \"[^\"]*\"", "\"samplerPath\": \"...\"");
            Golden.check("scan/" + scenario + ".json", stable);
        }
    }

    @Test
    void tableIsStable() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("gpu-lost")) {
            String table = Program.run(node, "scan").out();
            Golden.check("scan/gpu-lost.txt", table.replaceAll("at 20[0-9T:-]+Z", "at (time)"));
        }
        try (SimulatedNode node = SimulatedNode.start("a100-mig")) {
            Golden.check("scan/a100-mig.txt", Program.run(node, "scan").out());
        }
    }

    @Tag("programs")
    @Test
    void machineWithoutGpuIsUndecided(@TempDir Path sysfs) throws Exception {
        Assumptions.assumeFalse(Files.exists(Path.of("/proc/driver/nvidia")), "this machine has a driver");
        Files.createDirectories(sysfs.resolve("bus/pci/devices"));
        Program scan = Program.spawn("scan", "--path.sysfs=" + sysfs, "--kernel-log.source=none");
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
    void wrongUsageExitsWith2(String option) {
        Program scan = Program.run("scan", option);
        assertThat(scan.exitCode()).isEqualTo(2);
        assertThat(scan.out()).isEmpty();
        assertThat(scan.err()).isNotEmpty();
    }

    @Test
    void selectionOfNothingThatScanRunsIsAnError() {
        Program scan = Program.run("scan", "--check.only=pciebw");
        assertThat(scan.exitCode()).isEqualTo(2);
        assertThat(scan.err()).contains("only checks with a load on GPUs", "gpuwarden check NAME");
    }
}
