package dev.gpuwarden.daemon.reset;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.GpuFileHolders;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.reset.GpuReset.Outcome;
import dev.gpuwarden.daemon.reset.ResettableNode.Release;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A GPU that needs a reset, with the simulated nvidia-smi and open files of real processes. */
abstract class GpuResetFixture {

    @TempDir
    Path folder;

    SimulatedNode node;
    FakeNode around;

    /** The daemon and the driver of the test: what they answer is set, the files and nvidia-smi are real. */
    final class FakeNode implements ResettableNode {
        final List<String> log = new ArrayList<>();
        Optional<String> refusal = Optional.empty();
        Optional<String> lost = Optional.empty();
        Optional<String> unproven = Optional.empty();
        Instant verified = Instant.EPOCH;
        Optional<String> withheld = Optional.empty();
        Optional<String> kernelLog = Optional.empty();

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

    Outcome reset() throws IOException, InterruptedException {
        return reset(node.nvidiaSmi());
    }

    /** Runs for an ordinary user too, whom NVIDIA's program refuses. */
    Outcome reset(Path program) throws IOException, InterruptedException {
        Path smi = folder.resolve("nvidia-smi");
        Files.writeString(smi, "#!/bin/sh\nGPUWARDEN_SIM_ROOT=1 exec " + program + " \"$@\"\n");
        Files.setPosixFilePermissions(smi, PosixFilePermissions.fromString("rwxr-xr-x"));
        NvidiaSmi runs = new NvidiaSmi(DriverRoot.of(smi), Duration.ofSeconds(1));
        return new GpuReset(around, runs, record(), Duration.ZERO, line -> {}).run(List.of(uuid()));
    }

    PersistenceRecord record() {
        return new PersistenceRecord(folder, "boot-1");
    }

    String uuid() {
        return uuid(3);
    }

    String uuid(int gpu) {
        return node.control().table().text("gpu[" + gpu + "].uuid");
    }

    static String failure(Outcome outcome) {
        assertThat(outcome.success()).isFalse();
        return outcome.failure().map(step -> step.name() + ": " + step.detail()).orElseThrow();
    }

    boolean persistent() {
        return node.control().table().number("gpu[3].persistence") == 1;
    }
}
