package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.reset.GpuReset.Outcome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Resets by the simulated nvidia-smi, with open files of real processes. */
@Tag("programs")
class GpuResetTest extends GpuResetFixture {

    @Test
    void acknowledgesAfterPersistenceModeIsBackAndTheDaemonReads() throws Exception {
        Instant began = Instant.now();
        assertThat(reset().success()).isTrue();
        assertThat(around.log).hasSize(3).startsWith("released", "taken again");
        String[] line = around.log.get(2).split(" at ");
        assertThat(line[0]).isEqualTo("GPU reset occurred: " + uuid());
        assertThat(Instant.parse(line[1]))
                .as("the end of the reset, not of its checks")
                .isBetween(began.truncatedTo(ChronoUnit.MILLIS), around.verified);
        assertThat(persistent()).isTrue();
    }

    @Test
    void persistenceModeThatWasOffStaysOff() throws Exception {
        node.set("gpu.3.persistence", "off");
        assertThat(reset().success()).isTrue();
        assertThat(persistent()).isFalse();
    }

    @Test
    void resetThatFailsLiesOrHangsIsReported() throws Exception {
        String line = "GPU reset executed: " + uuid() + ", success: false";
        node.set("gpu.3.smi.reset", "fail");
        assertThat(failure(reset()))
                .startsWith("reset: nvidia-smi ended with code ")
                .contains("Unknown Error");
        node.set("gpu.3.smi.reset", "lie");
        assertThat(failure(reset())).isEqualTo("verify: GPU 3 is reset_required");
        node.set("gpu.3.smi.reset", "hang");
        assertThat(failure(reset())).startsWith("reset: nvidia-smi ");
        assertThat(around.log)
                .containsExactly(
                        "released",
                        "taken again",
                        line,
                        "released",
                        "taken again",
                        line,
                        "released",
                        "taken again",
                        line);
        assertThat(persistent()).isTrue();
    }

    @Test
    void nothingIsChangedWhereTheResetCannotBegin() throws Exception {
        around.refusal = Optional.of("the daemon is too old");
        assertThat(failure(reset())).isEqualTo("release: the daemon is too old");
        around.refusal = Optional.empty();
        around.lost = Optional.of("the daemon reads the GPUs again");
        assertThat(failure(reset())).isEqualTo("released: the daemon reads the GPUs again");
        around.lost = Optional.empty();
        around.withheld = Optional.of("the Node has no cordon");
        assertThat(failure(reset())).isEqualTo("gate: the Node has no cordon");
        around.withheld = Optional.empty();
        assertThat(failure(reset(folder.resolve("none")))).startsWith("refused: nvidia-smi ended with code 127");
        Process holder = new ProcessBuilder("sleep", "60")
                .redirectInput(node.devices().resolve("nvidia3").toFile())
                .start();
        try {
            assertThat(failure(reset())).startsWith("unused: ").contains("process " + holder.pid());
        } finally {
            holder.destroy();
        }
        assertThat(around.log).containsOnly("released", "taken again");
        assertThat(persistent()).isTrue();
        assertThat(node.control().gpus().get(3).fit()).isFalse();
    }

    @Test
    void clientInTheKernelIsNamedWithItsRemedyOnceNvidiaSmiHasRefused() throws Exception {
        node.set("node.drm-modeset", "yes");
        Outcome refused = reset();
        assertThat(failure(refused))
                .startsWith(
                        "refused: probable cause: kernel module nvidia_drm (modeset=Y, use count 1) can hold the GPU")
                .contains(
                        "then run modprobe -r nvidia_drm. nvidia-smi ended with code 255: ",
                        "In use by another client");
        assertThat(refused.isBefore()).isTrue();
        assertThat(around.log).as("no line").containsOnly("released", "taken again");
        assertThat(persistent()).isTrue();
        node.set("node.drm-modeset", "no");
        assertThat(reset().success())
                .as("with nvidia_drm as most servers have it")
                .isTrue();
    }

    @Test
    void exitCodeAloneIsNoProofOfAReset() throws Exception {
        assertThat(failure(reset(script("nothing", "exit 0"))))
                .startsWith("proof: no proof of a reset: expected nvidia-smi to report");
        String other = "[ \"$3\" != --gpu-reset ] || echo 'GPU 00000000:01:00.0 was successfully reset.'";
        assertThat(failure(reset(script("other", other)))).startsWith("proof: ");
        around.unproven = Optional.of("its counters go on");
        node.set("gpu.3.state", "ok");
        assertThat(failure(reset())).isEqualTo("proof: no proof of a reset: its counters go on");
        assertThat(around.log).as("no line").containsOnly("released", "taken again");
    }

    @ParameterizedTest
    @CsvSource({
        "255, GPU 00000000:01:00.0: In use by another client, refused",
        "4, Insufficient Permissions, refused",
        "2, Option is not recognized, refused",
        "9, couldn't communicate with the NVIDIA driver, refused",
        "137, '', refused",
        "255, 1 device did not complete reset successfully, reset",
        "15, GPU is lost, reset"
    })
    void onlyAFailureOfTheGpuJudgesIt(int code, String text, String step) throws Exception {
        Path smi = script("smi-" + code, "[ \"$3\" != --gpu-reset ] || { echo \"" + text + "\"; exit " + code + "; }");
        Outcome outcome = reset(smi);
        assertThat(failure(outcome)).startsWith(step + ": ");
        assertThat(GpuReset.BEFORE.contains(step)).isEqualTo(step.equals("refused"));
        assertThat(around.log).hasSize(step.equals("refused") ? 2 : 3);
    }

    private Path script(String name, String body) throws IOException {
        Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + body + "\n");
        return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    void programThatAnotherUserCanChangeDoesNotRun() throws Exception {
        Path smi = script("open", "touch " + folder.resolve("ran"));
        Files.setPosixFilePermissions(smi, PosixFilePermissions.fromString("rwxrwxrwx"));
        NvidiaSmi runs = new NvidiaSmi(DriverRoot.of(smi), Duration.ofSeconds(1));
        Outcome outcome = new GpuReset(around, runs, record(), Duration.ZERO, line -> {}).run(List.of(uuid()));
        assertThat(failure(outcome))
                .startsWith("refused: nvidia-smi did not start: " + smi.toRealPath() + " users other than its owner");
        assertThat(folder.resolve("ran")).doesNotExist();
    }

    @Test
    void resetWithoutAnAcknowledgementIsNoSuccess() throws Exception {
        around.kernelLog = Optional.of("/dev/kmsg cannot be written");
        assertThat(failure(reset())).isEqualTo("acknowledge: /dev/kmsg cannot be written");
    }

    @Test
    void oneResetRunsAtATime() throws Exception {
        ResetLock other = ResetLock.tryTake(folder).orElseThrow();
        assertThat(ResetLock.isHeld(folder)).isTrue();
        assertThat(failure(reset()))
                .isEqualTo("alone: expected no other reset of this node, and one still runs; wait for its end");
        other.close();
        assertThat(ResetLock.isHeld(folder)).isFalse();
        assertThat(reset().success()).isTrue();
    }
}
