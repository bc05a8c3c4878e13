package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.daemon.app.ChildJvm;
import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.daemon.holders.TestKubelet;
import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.scenario.Generation;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Resets with a real daemon, real processes and the simulated nvidia-smi. */
@Tag("programs")
@Timeout(120)
class GpuResetCommandTest {

    private static final String PENDING_ROWS = "check=\"GpuRemappedRows\"";
    private static final String UNVERIFIED = "check=\"RepairVerification\"";

    @TempDir
    Path folder;

    private SimulatedNode node;

    @BeforeEach
    void begin() {
        node = SimulatedNode.start("l4x4");
    }

    @AfterEach
    void end() {
        node.close();
    }

    private record Ended(int code, Map<String, Object> report, String err) {
        String step(String name) {
            return steps().stream()
                    .filter(step -> name.equals(step.get("name")))
                    .map(step -> (Boolean.TRUE.equals(step.get("done")) ? "done: " : "failed: ") + step.get("detail"))
                    .findFirst()
                    .orElse("missing");
        }

        @SuppressWarnings("unchecked")
        private List<Map<String, Object>> steps() {
            return (List<Map<String, Object>>) report.getOrDefault("steps", List.of());
        }
    }

    private Ended reset(String... arguments) throws IOException, InterruptedException {
        return ended(start(arguments));
    }

    private Process start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("gpu-reset", "--output=json"));
        command.addAll(List.of(arguments));
        if (command.stream().noneMatch(argument -> argument.startsWith("--check.only"))) {
            command.add("--check.only=gpu-state");
        }
        command.add("--grpc.socket=" + node.root().resolve("gpuwarden.sock"));
        ProcessBuilder builder = ChildJvm.gpuwarden(command);
        builder.environment().putAll(node.environment());
        builder.environment().put("GPUWARDEN_SIM_ROOT", "1");
        return builder.redirectError(folder.resolve("err").toFile()).start();
    }

    private Ended ended(Process process) throws IOException, InterruptedException {
        Path err = folder.resolve("err");
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        int code = process.waitFor();
        return new Ended(
                code, out.isEmpty() ? Map.of() : JsonReader.ofDepth(16).readObject(out), Files.readString(err));
    }

    private RunningDaemon daemon() throws IOException, InterruptedException {
        RunningDaemon daemon = RunningDaemon.start(node, "--path.devices=" + node.devices(), "--check.only=gpu-state");
        daemon.awaitReady();
        return daemon;
    }

    private String uuid(int gpu) {
        return node.control().table().text("gpu[" + gpu + "].uuid");
    }

    private static boolean hasFault(String metrics) {
        return hasFault(metrics, "code=\"48\"");
    }

    private static boolean hasFault(String metrics, String label) {
        return metrics.lines().anyMatch(line -> line.startsWith("gpuwarden_faults{") && line.contains(label));
    }

    private void awaitState(RunningDaemon daemon, int gpu, String state) throws IOException, InterruptedException {
        String row = "gpuwarden_gpu_state{gpu=\"" + gpu + "\",state=\"" + state + "\",uuid=\"" + uuid(gpu) + "\"} 1.0";
        daemon.awaitMetrics(metrics -> metrics.contains(row));
    }

    @Test
    void daemonLetsGoAndTakesTheRepairedGpuAgain() throws Exception {
        RunningDaemon daemon = daemon();
        node.logKernel(String.format(
                        "NVRM: Xid (PCI:0000:%02x:00", node.control().table().number("gpu[2].pci_bus"))
                + "): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error (DBE) has been detected");
        node.set("gpu.2.state", "reset-required");
        daemon.awaitMetrics(GpuResetCommandTest::hasFault);
        awaitState(daemon, 2, "reset_required");
        Ended plan = reset("2");
        assertThat(plan.code()).as(plan.err()).isZero();
        assertThat(plan.report()).containsEntry("outcome", "dry-run");
        assertThat(plan.step("unused"))
                .contains("held by process " + daemon.process().pid());
        assertThat(node.control().gpus().get(2).fit()).isFalse();

        Ended ended = reset("2", "--arm");
        assertThat(ended.code()).as(ended.report() + ended.err()).isZero();
        assertThat(ended.report()).containsEntry("outcome", "reset").containsEntry("success", true);
        assertThat(ended.steps())
                .extracting(step -> step.get("name"))
                .containsExactly(
                        "release", "unused", "persistence-off", "reset", "verify", "persistence-on", "acknowledge");
        assertThat(node.control().table().number("gpu[2].persistence")).isEqualTo(1);
        awaitState(daemon, 2, "answering");
        daemon.awaitMetrics(metrics -> !hasFault(metrics));
        daemon.stop();
    }

    @Test
    void faultOfACheckEndsWithTheResetOnceTheCheckPassesAndNotBefore() throws Exception {
        node.set("gpu.1.remapped-rows.pending", "yes");
        RunningDaemon daemon = RunningDaemon.start(
                node,
                "--path.devices=" + node.devices(),
                "--check.only=gpu-state,gpu-remapped-rows",
                "--check.interval=gpu-remapped-rows=1h");
        daemon.awaitMetrics(metrics -> hasFault(metrics, PENDING_ROWS));
        // A line is no proof: the check runs now, and raises its fault again.
        node.logKernel("GPU reset occurred: " + uuid(1));
        daemon.awaitMetrics(metrics -> hasFault(metrics, UNVERIFIED) && hasFault(metrics, PENDING_ROWS));

        node.set("gpu.1.remapped-rows.pending", "no");
        Ended ended = reset("1", "--arm", "--check.only=gpu-state,gpu-remapped-rows,gpu-persistence-mode");
        assertThat(ended.code()).as(ended.report() + ended.err()).isZero();
        assertThat(ended.step("verify"))
                .as("no warning about the mode that the reset turned off")
                .isEqualTo("done: 2 passed");
        assertThat(ended.step("persistence-on")).startsWith("done: ");
        daemon.awaitMetrics(metrics -> !hasFault(metrics, UNVERIFIED) && !hasFault(metrics, PENDING_ROWS));
        daemon.stop();
    }

    @Test
    void processThatHoldsTheGpuIsNamedAndNothingIsChanged() throws Exception {
        Process holder = new ProcessBuilder("sleep", "600")
                .redirectInput(node.devices().resolve("nvidia1").toFile())
                .start();
        inPod(holder.pid());
        try {
            Path bundles = folder.resolve("bundles");
            Ended ended = reset("1", "--arm", "--patience=1s", "--reset.bundle=" + bundles);
            assertThat(bundles).as("a held GPU is no case for the vendor").doesNotExist();
            assertThat(ended.code()).isEqualTo(1);
            assertThat(ended.step("release")).startsWith("done: no daemon answers on ");
            assertThat(ended.step("unused"))
                    .startsWith("failed: ")
                    .containsSubsequence("process " + holder.pid(), "sleep", " of pod vision/detector-0 triton");
            assertThat(ended.step("persistence-off")).isEqualTo("missing");
            assertThat(node.control().table().number("gpu[1].persistence")).isEqualTo(1);
            assertThat(ended.err()).contains("the reset failed at the step unused");
        } finally {
            holder.destroy();
        }
    }

    @Test
    void daemonThatIsTooOldToLetGoKeepsItsGpus() throws Exception {
        Path socket = node.root().resolve("gpuwarden.sock");
        // A gRPC server without the service, as older daemons are.
        try (TestKubelet older = new TestKubelet(socket)) {
            Ended ended = reset("1", "--arm");
            assertThat(ended.code()).isEqualTo(1);
            assertThat(ended.steps()).extracting(step -> step.get("name")).containsExactly("release");
            assertThat(ended.step("release"))
                    .isEqualTo("failed: the daemon on " + socket
                            + " is too old to let go of GPUs; update it, or stop it first");
            assertThat(ended.err()).contains("the reset failed at the step release: the daemon on " + socket);
            assertThat(node.control().table().number("gpu[1].persistence")).isEqualTo(1);
            assertThat(older.asked).hasValue(0);
        }
    }

    @Test
    void daemonThatIsKilledInTheMiddleLeavesTheGpuAsItWas() throws Exception {
        RunningDaemon daemon = daemon();
        node.set("gpu.1.state", "reset-required");
        Path begun = folder.resolve("begun");
        Path smi = folder.resolve("nvidia-smi");
        script(
                smi,
                node.nvidiaSmi() + " \"$@\"\ncode=$?\n[ \"$4\" != 0 ] || { touch " + begun
                        + "; sleep 2; }\nexit $code");
        Process reset = start("1", "--arm", "--reset.nvidia-smi=" + smi);
        Await.until(() -> Files.exists(begun), "persistence mode is off");
        daemon.process().destroyForcibly().waitFor();
        Ended ended = ended(reset);
        assertThat(ended.code()).as(ended.err()).isEqualTo(1);
        assertThat(ended.steps())
                .extracting(step -> step.get("name"))
                .containsExactly("release", "unused", "persistence-off", "released", "persistence-on");
        assertThat(ended.step("released")).startsWith("failed: the daemon reads the GPUs again: ");
        assertThat(node.control().table().number("gpu[1].persistence")).isEqualTo(1);
        assertThat(node.control().gpus().get(1).fit()).as("not reset").isFalse();
    }

    @Test
    void resetThatASignalStopsTurnsPersistenceModeOnAgain() throws Exception {
        RunningDaemon daemon = daemon();
        node.set("gpu.1.smi.reset", "hang");
        Process reset = start("1", "--arm", "--reset.bundle=" + folder.resolve("bundles"));
        Await.until(
                () -> ProcessHandle.allProcesses()
                        .anyMatch(process -> process.info()
                                .commandLine()
                                .filter(line -> line.contains(uuid(1) + " --gpu-reset"))
                                .isPresent()),
                "nvidia-smi resets");
        assertThat(node.control().table().number("gpu[1].persistence")).isZero();
        // Process.destroy would close the output too.
        reset.toHandle().destroy();
        Ended ended = ended(reset);
        assertThat(ended.err()).endsWith("the reset failed at the step reset: it was stopped in the middle\n");
        assertThat(ended.code()).isEqualTo(1);
        assertThat(ended.step("persistence-on")).isEqualTo("done: " + uuid(1));
        assertThat(ended.step("acknowledge")).isEqualTo("done: GPU reset executed: " + uuid(1) + ", success: false");
        assertThat(node.control().table().number("gpu[1].persistence")).isEqualTo(1);
        assertThat(folder.resolve("bundles")).as("no time for evidence").doesNotExist();
        awaitState(daemon, 1, "answering");
        daemon.stop();
    }

    /** The process gets the cgroup of the scenario's pod. */
    private void inPod(long pid) throws IOException {
        Path other = Files.createDirectories(node.procfs().resolve(Long.toString(pid)));
        for (String file : List.of("stat", "cgroup")) {
            Files.copy(node.procfs().resolve("31001").resolve(file), other.resolve(file));
        }
    }

    @Test
    void gpuThatComputesWrongAfterItsResetIsNotRepaired() throws Exception {
        node.set("gpu.1.cuda.wrong.pattern", "bit");
        Ended ended = reset("1", "--arm", "--check.only=gpu-state,gpu-results,nccl-loopback");
        assertThat(ended.code()).as(ended.err()).isEqualTo(1);
        assertThat(ended.step("reset")).isEqualTo("done: ");
        assertThat(ended.step("verify")).startsWith("failed: ").contains("wrong");
        assertThat(ended.step("acknowledge")).isEqualTo("done: GPU reset executed: " + uuid(1) + ", success: false");

        Ended other = reset("3", "--arm", "--check.only=gpu-state,gpu-results,nccl-loopback");
        assertThat(other.code()).as(other.err()).isZero();
        assertThat(other.step("verify")).isEqualTo("done: 2 passed; skipped: nccl-loopback (one-gpu)");
        Ended passive = reset("1", "--arm", "--verify=passive", "--check.only=gpu-state,gpu-results");
        assertThat(passive.step("verify")).isEqualTo("done: 1 passed");
    }

    @Test
    void failureKeepsItsEvidence() throws Exception {
        Path bundles = folder.resolve("state/bundles");
        Path smi = Files.createDirectories(folder.resolve("driver")).resolve("nvidia-smi");
        script(
                smi,
                "case \"$*\" in *--gpu-reset*) echo In use by another client; exit 19;; *-q*) echo all about $3;; esac");
        node.logKernel("NVRM: Xid (PCI:0000:2d:00): 79, GPU has fallen off the bus");
        node.logKernel("eth0: link is up");
        String[] words = {"1", "--arm", "--reset.nvidia-smi=" + smi, "--reset.bundle=" + bundles};
        Ended without = reset(words);
        assertThat(without.code()).as(without.err()).isEqualTo(1);
        assertThat(without.err())
                .containsSubsequence(
                        "failed at the step reset: ", "failed at the step reset: ", "; evidence in " + bundles);
        Map<String, String> files = unzipped(bundles);
        assertThat(files.keySet()).containsExactly("README.txt", "reset.json", "kernel-log.txt", "nvidia-smi.txt");
        assertThat(files.get("README.txt")).contains("nvidia-bug-report.sh: missing: ", "is absent beside nvidia-smi");
        assertThat(files.get("reset.json")).contains("In use by another client");
        assertThat(files.get("kernel-log.txt"))
                .contains("79, GPU has fallen off")
                .doesNotContain("eth0");
        assertThat(files.get("nvidia-smi.txt")).isEqualTo("exit code 0\nall about " + uuid(1) + "\n");
        assertThat(without.report().get("evidence")).isEqualTo("evidence in " + newest(bundles));
    }

    @Test
    void bundleKeepsTheEvidenceOfANodeBeforeItsReboot() throws Exception {
        Path bundles = folder.resolve("state/bundles");
        Path smi = Files.createDirectories(folder.resolve("driver")).resolve("nvidia-smi");
        script(smi, "echo all about $*");
        node.logKernel("NVRM: Xid (PCI:0000:2d:00): 79, GPU has fallen off the bus");
        ProcessBuilder builder = ChildJvm.gpuwarden(
                List.of("bundle", bundles.toString(), "--name=reboot-1", "--reset.nvidia-smi=" + smi));
        builder.environment().putAll(node.environment());
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).isZero();
        assertThat(out).isEqualTo("evidence in " + bundles.resolve("bundle-reboot-1.zip") + "\n");
        Map<String, String> files = unzipped(bundles);
        assertThat(files.keySet()).containsExactly("README.txt", "kernel-log.txt", "nvidia-smi.txt");
        assertThat(files.get("README.txt")).startsWith("Evidence of the GPUs of this node at ");
        assertThat(files.get("kernel-log.txt")).contains("79, GPU has fallen off");
        assertThat(files.get("nvidia-smi.txt")).isEqualTo("exit code 0\nall about -q\n");
    }

    private static void script(Path file, String text) throws IOException {
        Files.writeString(file, "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private static Path newest(Path bundles) throws IOException {
        try (Stream<Path> all = Files.list(bundles)) {
            return all.max(Path::compareTo).orElseThrow();
        }
    }

    private static Map<String, String> unzipped(Path bundles) throws IOException {
        Map<String, String> files = new LinkedHashMap<>();
        try (ZipInputStream zip = new ZipInputStream(Files.newInputStream(newest(bundles)))) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                files.put(entry.getName(), new String(zip.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        return files;
    }

    @Test
    void gpuOfAnotherNodeIsRefused() throws Exception {
        Ended absent = reset("GPU-00000000-0000-0000-0000-000000000000", "--arm");
        assertThat(absent.code()).isEqualTo(2);
        assertThat(absent.err()).contains("is not on this node; expected one of 0 = " + uuid(0));
    }

    @Test
    void gpusOfAUnitAreResetTogetherWhileAProcessOfAnotherUnitLives() throws Exception {
        node.close();
        node = SimulatedNode.start("nvlink-pairs");
        RunningDaemon daemon = daemon();
        Process tenant = new ProcessBuilder("sleep", "600")
                .redirectInput(node.devices().resolve("nvidia2").toFile())
                .start();
        try {
            node.logKernel(
                    "NVRM: Xid (PCI:0000:00:08): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit"
                            + " error (DBE) has been detected");
            node.set("gpu.0.state", "reset-required");
            node.set("gpu.2.ecc.volatile.uncorrected", "5");
            daemon.awaitMetrics(GpuResetCommandTest::hasFault);
            Ended part = reset("0", "--arm");
            assertThat(part.code()).isEqualTo(2);
            assertThat(part.err())
                    .contains("expected all GPUs that can only be reset together, GPU 0 (0000:00:08.0), GPU 1"
                            + " (0000:00:09.0), seen GPU 0 (0000:00:08.0); name all of them");

            Ended both = reset("1", "0", "--arm");
            assertThat(both.code()).as(both.report() + both.err()).isZero();
            assertThat(both.steps())
                    .filteredOn(step -> "acknowledge".equals(step.get("name")))
                    .extracting(step -> step.get("detail"))
                    .containsExactly("GPU reset occurred: " + uuid(1), "GPU reset occurred: " + uuid(0));
            daemon.awaitMetrics(metrics -> !hasFault(metrics));
            assertThat(tenant.isAlive()).isTrue();
            assertThat(node.control().table().number("gpu[2].ecc_total[2]"))
                    .as("GPU 2 was not reset")
                    .isEqualTo(5);
        } finally {
            tenant.destroy();
        }
        daemon.stop();
    }

    @Test
    void driverIsUpgradedWhileAProgramRunsAndTheDaemonReadsTheNewOne() throws Exception {
        RunningDaemon daemon = RunningDaemon.start(
                node,
                "--path.devices=" + node.devices(),
                "--check.only=driver,gpu-state",
                "--check.interval=driver=1s");
        daemon.awaitMetrics(metrics -> metrics.contains("driver_version=\"550.163.01\""));
        awaitState(daemon, 0, "answering");
        Path installed = folder.resolve("installed");
        Path begun = folder.resolve("begun");
        ProcessBuilder builder = ChildJvm.gpuwarden(List.of(
                "release-driver",
                "--grpc.socket=" + node.root().resolve("gpuwarden.sock"),
                "--",
                "sh",
                "-c",
                "touch " + begun + "; until [ -e " + installed + " ]; do sleep 0.05; done; exit 7"));
        builder.environment().putAll(node.environment());
        Process upgrade = builder.inheritIO().start();
        Await.until(() -> Files.exists(begun), "the driver is released");
        assertThat(openFiles(daemon.process().pid())).noneMatch(file -> file.contains("nvidia"));
        // A library that stays loaded is what the loader returns for its name, whatever the file is by then.
        assertThat(Files.readString(Path.of("/proc/" + daemon.process().pid() + "/maps")))
                .doesNotContain("libnvidia-ml", "libcuda");
        node.installDriver(Generation.D580);
        Files.createFile(installed);
        assertThat(upgrade.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(upgrade.exitValue()).isEqualTo(7);
        List<String> faults = new ArrayList<>();
        daemon.awaitMetrics(metrics -> {
            metrics.lines().filter(line -> line.startsWith("gpuwarden_faults{")).forEach(faults::add);
            return metrics.contains("driver_version=\"580.82.07\"");
        });
        awaitState(daemon, 0, "answering");
        assertThat(faults).isEmpty();
        daemon.stop();
    }

    private static List<String> openFiles(long pid) throws IOException {
        List<String> files = new ArrayList<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/" + pid + "/fd"))) {
            for (Path link : open) {
                try {
                    files.add(Files.readSymbolicLink(link).toString());
                } catch (NoSuchFileException e) {
                    // Closed since the listing.
                }
            }
        }
        return files;
    }
}
