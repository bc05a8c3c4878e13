package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;

import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.daemon.command.ResetRuns.Ended;
import dev.gpuwarden.daemon.holders.TestKubelet;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Resets with a real daemon, real processes and the simulated nvidia-smi. */
@Tag("programs")
class GpuResetCommandTest {

    private static final String PENDING_ROWS = "check=\"GpuRemappedRows\"";
    /** The options with which a Job of the janitor names its resource. */
    private static final String[] RESOURCE = {
        "--maintenance.resource=gpuresets/reset-1",
        "--maintenance.uid=r-uid",
        "--maintenance.generation=1",
        "--maintenance.node=node-1",
        "--maintenance.node-uid=n-uid",
        "--maintenance.lock-namespace=gpuwarden"
    };

    private static final String UNVERIFIED = "check=\"RepairVerification\"";

    @TempDir
    Path folder;

    private SimulatedNode node;
    private ResetRuns runs;

    @BeforeEach
    void begin() {
        begin("l4x4");
    }

    private void begin(String scenario) {
        node = SimulatedNode.start(scenario);
        runs = new ResetRuns(node, folder);
    }

    @AfterEach
    void end() {
        node.close();
    }

    private static boolean hasFault(String metrics) {
        return hasFault(metrics, "code=\"48\"");
    }

    private static boolean hasFault(String metrics, String label) {
        return metrics.lines().anyMatch(line -> line.startsWith("gpuwarden_faults{") && line.contains(label));
    }

    private void awaitState(RunningDaemon daemon, int gpu, String state) throws IOException, InterruptedException {
        String row =
                "gpuwarden_gpu_state{gpu=\"" + gpu + "\",state=\"" + state + "\",uuid=\"" + runs.uuid(gpu) + "\"} 1.0";
        daemon.awaitMetrics(metrics -> metrics.contains(row));
    }

    @Test
    void daemonLetsGoAndTakesTheRepairedGpuAgain() throws Exception {
        RunningDaemon daemon = runs.daemon();
        node.logKernel(String.format(
                        "NVRM: Xid (PCI:0000:%02x:00", node.control().table().number("gpu[2].pci_bus"))
                + "): 48, pid='<unknown>', name=<unknown>, An uncorrectable double bit error (DBE) has been detected");
        node.set("gpu.2.state", "reset-required");
        daemon.awaitMetrics(GpuResetCommandTest::hasFault);
        awaitState(daemon, 2, "reset_required");
        Ended plan = runs.reset("2");
        assertThat(plan.code()).as(plan.err()).isZero();
        assertThat(plan.report()).containsEntry("outcome", "dry-run");
        assertThat(plan.step("unused")).endsWith("free, but for gpuwarden itself (it lets go first)");
        assertThat(node.control().gpus().get(2).fit()).isFalse();

        // The instruction of the status, word for word.
        List<String> printed = runs.instruction("GPU 2");
        assertThat(printed).containsExactly("2", "--arm");
        Ended ended = runs.reset(printed.toArray(new String[0]));
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
        node.logKernel("GPU reset occurred: " + runs.uuid(1));
        daemon.awaitMetrics(metrics -> hasFault(metrics, UNVERIFIED) && hasFault(metrics, PENDING_ROWS));

        node.set("gpu.1.remapped-rows.pending", "no");
        Ended ended = runs.reset("1", "--arm", "--check.only=gpu-state,gpu-remapped-rows,gpu-persistence-mode");
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
            Ended ended = runs.reset("1", "--arm", "--patience=1s", "--reset.bundle=" + bundles);
            assertThat(bundles).as("a held GPU is no case for the vendor").doesNotExist();
            assertThat(ended.code()).isEqualTo(1);
            assertThat(ended.step("release")).startsWith("done: no daemon answers on ");
            assertThat(ended.step("unused"))
                    .startsWith("failed: ")
                    .containsSubsequence("process " + holder.pid(), "sleep", " of pod vision/detector-0 triton");
            assertThat(ended.step("persistence-off")).isEqualTo("missing");
            assertThat(node.control().table().number("gpu[1].persistence")).isEqualTo(1);
            assertThat(ended.err()).contains("the reset failed at the step unused");
            List<String> ofJob = new ArrayList<>(List.of("1", "--arm", "--patience=0s"));
            ofJob.addAll(List.of(RESOURCE));
            Ended withheld = runs.reset(ofJob.toArray(String[]::new));
            assertThat(withheld.code()).as("no failed attempt of the janitor").isEqualTo(4);
            assertThat(withheld.err())
                    .contains("gpuwarden: withheld: GPU 1", "at the step unused", "process " + holder.pid());
        } finally {
            holder.destroy();
        }
    }

    @Test
    void persistenceDaemonIsLeftToTheStepThatLetsItGo() throws Exception {
        Path program = Files.copy(Path.of("/bin/sleep"), folder.resolve("nvidia-persistenced"));
        Process daemon = new ProcessBuilder(program.toString(), "600")
                .redirectInput(node.devices().resolve("nvidia1").toFile())
                .start();
        try {
            assertThat(runs.reset("1").step("unused")).endsWith("no process holds the GPUs now");
            Ended ended = runs.reset("1", "--arm", "--patience=0s");
            assertThat(ended.step("unused")).startsWith("done: ");
            assertThat(ended.step("persistence-off")).startsWith("done: ");
            assertThat(ended.step("refused"))
                    .as("this one keeps the file open")
                    .containsSubsequence(
                            "open by process " + daemon.pid(), "nvidia-persistenced", "In use by another client");
        } finally {
            daemon.destroy();
        }
    }

    @Test
    void planNamesTheClientInTheKernelAndWhatHasItsDeviceOpen() throws Exception {
        assertThat(runs.reset("1").step("reset")).as("as most servers have it").endsWith(" --gpu-reset");
        node.set("node.drm-modeset", "yes");
        String address = String.format(
                "0000:%02x:%02x.0",
                node.control().table().number("gpu[1].pci_bus"),
                node.control().table().number("gpu[1].pci_device"));
        Files.createDirectories(node.sysfs().resolve("bus/pci/devices/" + address + "/drm/renderD129"));
        Path device = Files.createFile(
                Files.createDirectory(node.devices().resolve("dri")).resolve("renderD129"));
        Process display = new ProcessBuilder("sleep", "600")
                .redirectInput(device.toFile())
                .start();
        try {
            assertThat(runs.reset("1").step("reset"))
                    .containsSubsequence(
                            "nvidia-smi may refuse it: kernel module nvidia_drm (modeset=Y, use count 1)",
                            "its DRM devices are open by process " + display.pid(),
                            "modprobe -r nvidia_drm");
        } finally {
            display.destroy();
        }
    }

    @Test
    void resetOfAJobWithoutATokenIsWithheld() throws Exception {
        Path records = folder.resolve("records");
        List<String> ofJob = new ArrayList<>(List.of("1", "--arm", "--maintenance.record=" + records));
        ofJob.addAll(List.of(RESOURCE));
        Ended ended = runs.reset(ofJob.toArray(String[]::new));
        assertThat(ended.code()).isEqualTo(4);
        assertThat(ended.step("gate")).startsWith("failed: expected the token of a ServiceAccount");
        assertThat(ended.step("reset")).isEqualTo("missing");
        assertThat(ended.err()).contains("gpuwarden: withheld: expected the token of a ServiceAccount");
        assertThat(node.control().table().number("gpu[1].persistence")).isEqualTo(1);
        assertThat(records).doesNotExist();
        Ended half = runs.reset("1", "--arm", "--maintenance.resource=gpuresets/reset-1");
        assertThat(half.code()).isEqualTo(2);
        assertThat(half.err()).contains("needs --maintenance.uid");
    }

    @Test
    void daemonThatIsTooOldToLetGoKeepsItsGpus() throws Exception {
        Path socket = node.root().resolve("gpuwarden.sock");
        // A gRPC server without the service, as older daemons are.
        try (TestKubelet older = new TestKubelet(socket)) {
            Ended ended = runs.reset("1", "--arm");
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
        Ended ended = runs.reset("1", "--arm", "--check.only=gpu-state,gpu-results,nccl-loopback");
        assertThat(ended.code()).as(ended.err()).isEqualTo(1);
        assertThat(ended.step("reset")).isEqualTo("done: ");
        assertThat(ended.step("verify")).startsWith("failed: ").contains("wrong");
        assertThat(ended.step("acknowledge"))
                .isEqualTo("done: GPU reset executed: " + runs.uuid(1) + ", success: false");

        Ended other = runs.reset("3", "--arm", "--check.only=gpu-state,gpu-results,nccl-loopback");
        assertThat(other.code()).as(other.err()).isZero();
        assertThat(other.step("verify")).isEqualTo("done: 2 passed; skipped: nccl-loopback (one-gpu)");
        Ended passive = runs.reset("1", "--arm", "--verify=passive", "--check.only=gpu-state,gpu-results");
        assertThat(passive.step("verify")).isEqualTo("done: 1 passed");
    }

    @Test
    void aResetNamesAGpuAndARestoreNamesNone() {
        GpuResetCommand command = new GpuResetCommand(() -> fail("no driver"));
        assertThatThrownBy(command::call).hasMessageStartingWith("expected at least one GPU, or --restore");
        command.names = List.of("1");
        command.restore = true;
        assertThatThrownBy(command::call).hasMessage("--restore resets no GPU; leave out 1");
    }

    @Test
    void gpuOfAnotherNodeIsRefused() throws Exception {
        Ended absent = runs.reset("GPU-00000000-0000-0000-0000-000000000000", "--arm");
        assertThat(absent.code()).isEqualTo(2);
        assertThat(absent.err()).contains("is not on this node; expected one of 0 = " + runs.uuid(0));
    }

    @Test
    void gpusOfAUnitAreResetTogetherWhileAProcessOfAnotherUnitLives() throws Exception {
        node.close();
        begin("nvlink-pairs");
        RunningDaemon daemon = runs.daemon();
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
            Ended part = runs.reset("0", "--arm");
            assertThat(part.code()).isEqualTo(2);
            assertThat(part.err())
                    .contains("expected all GPUs that can only be reset together, GPU 0 (0000:00:08.0), GPU 1"
                            + " (0000:00:09.0), seen GPU 0 (0000:00:08.0); name all of them: sudo gpuwarden gpu-reset "
                            + runs.uuid(0) + " "
                            + runs.uuid(1) + " --arm");

            Ended both = runs.reset("1", "0", "--arm");
            assertThat(both.code()).as(both.report() + both.err()).isZero();
            assertThat(both.steps())
                    .filteredOn(step -> "acknowledge".equals(step.get("name")))
                    .extracting(step -> step.get("detail").toString().split(" at ")[0])
                    .containsExactly("GPU reset occurred: " + runs.uuid(1), "GPU reset occurred: " + runs.uuid(0));
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
}
