package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.daemon.command.ResetRuns.Ended;
import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Resets that a signal stops, and resets and daemons that are killed in the middle. */
@Tag("programs")
class GpuResetKillTest {

    @TempDir
    Path folder;

    private SimulatedNode node;
    private ResetRuns runs;

    @BeforeEach
    void begin() {
        node = SimulatedNode.start("l4x4");
        runs = new ResetRuns(node, folder);
    }

    @AfterEach
    void end() {
        node.close();
    }

    @Test
    void daemonThatIsKilledInTheMiddleLeavesTheGpuAsItWas() throws Exception {
        RunningDaemon daemon = runs.daemon();
        node.set("gpu.1.state", "reset-required");
        Path begun = folder.resolve("begun");
        Path smi = folder.resolve("nvidia-smi");
        ResetRuns.script(
                smi,
                node.nvidiaSmi() + " \"$@\"\ncode=$?\n[ \"$4\" != 0 ] || { touch " + begun
                        + "; sleep 2; }\nexit $code");
        Process reset = runs.start("1", "--arm", "--reset.nvidia-smi=" + smi);
        Await.until(() -> Files.exists(begun), "persistence mode is off");
        daemon.process().destroyForcibly().waitFor();
        Ended ended = runs.ended(reset);
        assertThat(ended.code()).as(ended.err()).isEqualTo(1);
        assertThat(ended.steps())
                .extracting(step -> step.get("name"))
                .containsExactly("release", "unused", "persistence-off", "released", "persistence-on");
        assertThat(ended.step("released")).startsWith("failed: the daemon reads the GPUs again: ");
        assertThat(runs.persistence(1)).isEqualTo(1);
        assertThat(node.control().gpus().get(1).fit()).as("not reset").isFalse();
    }

    @Test
    void resetThatASignalStopsTurnsPersistenceModeOnAgain() throws Exception {
        RunningDaemon daemon = runs.daemon();
        node.set("gpu.1.smi.reset", "hang");
        Process reset = runs.start("1", "--arm", "--reset.bundle=" + folder.resolve("bundles"));
        Await.until(() -> runs.isResetting(1), "nvidia-smi resets");
        assertThat(runs.persistence(1)).isZero();
        // Process.destroy would close the output too.
        reset.toHandle().destroy();
        Ended ended = runs.ended(reset);
        assertThat(ended.err()).endsWith("the reset failed at the step reset: it was stopped in the middle\n");
        assertThat(ended.code()).isEqualTo(1);
        assertThat(ended.step("persistence-on")).isEqualTo("done: " + runs.uuid(1));
        assertThat(ended.step("acknowledge"))
                .isEqualTo("done: GPU reset executed: " + runs.uuid(1) + ", success: false");
        assertThat(runs.persistence(1)).isEqualTo(1);
        assertThat(folder.resolve("bundles")).as("no time for evidence").doesNotExist();
        String row = "gpuwarden_gpu_state{gpu=\"1\",state=\"answering\",uuid=\"" + runs.uuid(1) + "\"} 1.0";
        var unused = daemon.awaitMetrics(metrics -> metrics.contains(row));
        daemon.stop();
    }

    @Test
    void resetThatIsKilledLeavesNoProcessAndNoLockAndItsWorkIsEnded() throws Exception {
        Path record = Path.of(node.environment().get("GPUWARDEN_RESET_STATE"), "gpu-reset-persistence.json");
        node.set("gpu.1.smi.reset", "hang");
        Process reset = runs.start("1", "--arm");
        Await.until(() -> runs.isResetting(1), "nvidia-smi resets");
        reset.destroyForcibly().waitFor();
        Await.until(() -> !runs.isResetting(1), "nvidia-smi ends with its reset");
        assertThat(runs.persistence(1)).isZero();
        assertThat(record).content().contains(runs.uuid(1));

        Ended restored = runs.reset("--restore", "--arm");
        assertThat(restored.code()).as(restored.err()).isZero();
        assertThat(restored.report()).containsEntry("outcome", "restored").containsEntry("success", true);
        assertThat(restored.step("persistence-earlier")).isEqualTo("done: " + runs.uuid(1));
        assertThat(runs.persistence(1)).isEqualTo(1);
        assertThat(record).doesNotExist();
    }
}
