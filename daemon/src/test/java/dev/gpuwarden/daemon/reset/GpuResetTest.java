package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.process.GpuFileHolders;
import dev.gpuwarden.daemon.process.ProcessOwners;
import dev.gpuwarden.daemon.reset.GpuReset.Outcome;
import dev.gpuwarden.daemon.reset.ResettableNode.Release;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Resets by the simulated nvidia-smi, with open files of real processes. */
@Tag("programs")
@Timeout(60)
class GpuResetTest {

    @TempDir
    Path folder;

    private SimulatedNode node;
    private FakeNode around;
    /** The daemon and the driver of the test: what they answer is set, the files and nvidia-smi are real. */
    private final class FakeNode implements ResettableNode {
        private final List<String> log = new ArrayList<>();
        private Optional<String> refusal = Optional.empty();
        private Optional<String> lost = Optional.empty();
        private Optional<String> unproven = Optional.empty();
        private Instant verified = Instant.EPOCH;
        private Optional<String> withheld = Optional.empty();
        private Optional<String> kernelLog = Optional.empty();

        @Override
        public Reading<Release> release(List<String> uuids) {
            if (refusal.isPresent()) {
                return Reading.absent(Absence.FAILED, 0, refusal.get());
            }
            log.add("released");
            return Reading.of(new Release() {
                @Override
                public String text() {
                    return "";
                }

                @Override
                public Optional<String> lost() {
                    return lost;
                }

                @Override
                public void close() {
                    log.add("taken again");
                }
            });
        }

        @Override
        public Reading<List<String>> holders(boolean all) {
            NodePaths paths = NodePaths.of(node.procfs(), node.sysfs(), node.podLogs());
            Reading<Set<Integer>> pids = new GpuFileHolders(paths, new ProcessOwners(paths))
                    .of(List.of(node.devices().resolve("nvidia3")));
            return pids instanceof Reading.Present<Set<Integer>> present
                    ? Reading.of(present.value().stream()
                            .map(pid -> "process " + pid)
                            .toList())
                    : Reading.absent(Absence.NO_DATA, 0, ((Reading.Absent<?>) pids).text());
        }

        @Override
        public Reading<KernelClients> kernelClients() {
            return KernelClients.read(node.sysfs()).map(modules -> new KernelClients(modules, List.of()));
        }

        @Override
        public Set<PciAddress> addresses(Collection<String> uuids) {
            return Set.of(PciAddress.parse(String.format(
                            "0000:%02x:%02x.0",
                            node.control().table().number("gpu[3].pci_bus"),
                            node.control().table().number("gpu[3].pci_device")))
                    .orElseThrow());
        }

        @Override
        public ResettableNode.Verified verify(List<String> uuids) {
            verified = Instant.now();
            boolean fit = node.control().gpus().get(3).fit();
            return new ResettableNode.Verified(
                    fit ? List.of() : List.of("GPU 3 is reset_required"), "1 passed", unproven);
        }

        @Override
        public Optional<String> withheld() {
            return withheld;
        }

        @Override
        public Map<String, Reading<Long>> persistenceModes() {
            return Map.of(
                    uuid(), Reading.of(node.control().table().number("gpu[3].persistence")),
                    uuid(2), Reading.of(1L));
        }

        @Override
        public Optional<String> acknowledge(String line) {
            log.add(line);
            return kernelLog;
        }
    }

    @BeforeEach
    void begin() {
        node = SimulatedNode.start("l4x4");
        node.set("gpu.3.state", "reset-required");
        around = new FakeNode();
    }

    @AfterEach
    void end() {
        node.close();
    }

    private Outcome reset() throws IOException, InterruptedException {
        return reset(node.nvidiaSmi());
    }

    /** Runs for an ordinary user too, whom NVIDIA's program refuses. */
    private Outcome reset(Path program) throws IOException, InterruptedException {
        Path smi = folder.resolve("nvidia-smi");
        Files.writeString(smi, "#!/bin/sh\nGPUWARDEN_SIM_ROOT=1 exec " + program + " \"$@\"\n");
        Files.setPosixFilePermissions(smi, PosixFilePermissions.fromString("rwxr-xr-x"));
        NvidiaSmi runs = new NvidiaSmi(DriverRoot.of(smi), Duration.ofSeconds(1));
        return new GpuReset(around, runs, record(), Duration.ZERO, line -> {}).run(List.of(uuid()));
    }

    private PersistenceRecord record() {
        return new PersistenceRecord(folder, "boot-1");
    }

    private String uuid() {
        return uuid(3);
    }

    private String uuid(int gpu) {
        return node.control().table().text("gpu[" + gpu + "].uuid");
    }

    private static String failure(Outcome outcome) {
        assertThat(outcome.success()).isFalse();
        return outcome.failure().map(step -> step.name() + ": " + step.detail()).orElseThrow();
    }

    private boolean persistent() {
        return node.control().table().number("gpu[3].persistence") == 1;
    }

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
    void resetEndsTheWorkOfEarlierOnesThatWereKilled() throws Exception {
        node.set("gpu.2.persistence", "off");
        node.set("gpu.3.persistence", "off");
        record().write(List.of(uuid(2), uuid(3), "GPU-gone"));
        Outcome outcome = reset();
        assertThat(outcome.success()).isTrue();
        assertThat(outcome.steps())
                .extracting(GpuReset.Step::name)
                .endsWith("persistence-on", "acknowledge", GpuReset.EARLIER);
        assertThat(outcome.steps().get(outcome.steps().size() - 1).detail())
                .contains("GPU-gone is not on this node", uuid(2));
        assertThat(persistent())
                .as("the reset GPU was on before the first reset")
                .isTrue();
        assertThat(node.control().table().number("gpu[2].persistence")).isEqualTo(1);
        assertThat(record().read()).isEmpty();
    }

    @Test
    void earlierWorkThatFailsStaysInTheRecordAndFailsNoReset() throws Exception {
        record().write(List.of(uuid(2)));
        node.set("gpu.2.persistence", "off");
        node.set("gpu.2.state", "lost");
        Outcome outcome = reset();
        assertThat(outcome.success()).isTrue();
        assertThat(outcome.failure()).isEmpty();
        assertThat(outcome.steps().get(outcome.steps().size() - 1).done()).isFalse();
        assertThat(record().read()).containsExactly(uuid(2));
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

    @Test
    void noModeIsTurnedOffThatCannotBeRecorded() throws Exception {
        Files.createDirectories(folder.resolve("gpu-reset-persistence.json.new/full"));
        assertThat(failure(reset())).startsWith("recorded: persistence mode cannot be recorded in " + folder);
        assertThat(persistent()).isTrue();
        Files.writeString(folder.resolve("gpu-reset-persistence.json"), "{}");
        assertThat(failure(reset()))
                .isEqualTo("alone: " + folder.resolve("gpu-reset-persistence.json")
                        + ": expected gpuwarden.persistence/v1, seen another schema; turn persistence mode on where it"
                        + " must be (nvidia-smi -pm 1), and remove the file");
        assertThat(around.log).containsOnly("released", "taken again");
    }
}
