package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Runs of the check on simulated nodes, with notes that outlast a run. */
class GhostsCheckTest {

    private static final Instant START = Instant.parse("2026-06-02T12:00:00Z");

    private final Map<String, Long> notes = new HashMap<>();

    private @Nullable NodeSnapshot last;
    private int lastSecond;

    /** Runs the check at this second, and every 15 s before it with the node as it was. */
    private List<Finding> at(int second, SimulatedNode node, UnaryOperator<GpuSnapshot> change) {
        NodeSnapshot read = CheckContexts.snapshot(node);
        NodeSnapshot changed = new NodeSnapshot(
                read.driver(), read.pciGpus(), read.gpus().stream().map(change).toList());
        NodeSnapshot before = last;
        for (int between = lastSecond + 15; before != null && between < second; between += 15) {
            run(between, node, before);
        }
        last = changed;
        lastSecond = second;
        return run(second, node, changed);
    }

    private List<Finding> run(int second, SimulatedNode node, NodeSnapshot seen) {
        CheckContext plain = CheckContexts.context(seen, CheckContexts.paths(node), BoardLimits.shipped());
        return new GhostsCheck().run(new Later(plain, notes, START.plusSeconds(second)));
    }

    private List<String> codes(int second, SimulatedNode node, UnaryOperator<GpuSnapshot> change) {
        return at(second, node, change).stream()
                .map(finding -> finding.outcome() + " " + finding.code())
                .toList();
    }

    private List<String> codes(int second, SimulatedNode node) {
        return codes(second, node, gpu -> gpu);
    }

    @Test
    void memoryAndWorkWithoutAProcessAreFoundAfterTheirTime() {
        try (SimulatedNode node = SimulatedNode.start("ghosts")) {
            List<String> early =
                    List.of("PASS no-ghosts", "SKIPPED needs-time", "SKIPPED needs-time", "PASS no-ghosts");
            assertThat(codes(0, node)).isEqualTo(early);
            assertThat(codes(299, node)).isEqualTo(early);
            assertThat(codes(300, node))
                    .containsExactly(
                            "PASS no-ghosts",
                            "WARN memory-without-process",
                            "WARN busy-without-process",
                            "PASS no-ghosts");
            node.set("gpu.1.memory.used", "0");
            node.set("gpu.2.utilization.gpu", "0");
            assertThat(codes(315, node)).containsOnly("PASS no-ghosts");
            node.set("gpu.1.memory.used", "9GiB");
            assertThat(codes(900, node).get(1)).as("the time begins again").isEqualTo("SKIPPED needs-time");
        }
    }

    @Test
    void lastOwnerOfAProcessThatEndedIsNamed() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("memory-hog")) {
            assertThat(codes(0, node)).containsOnly("PASS no-ghosts");
            remove(node.procfs().resolve("61001"));
            assertThat(codes(15, node)).containsExactly("SKIPPED needs-time", "PASS no-ghosts");
            Finding ghost = at(330, node, gpu -> gpu).get(0);
            assertThat(ghost.code()).isEqualTo("memory-without-process");
            assertThat(ghost.message())
                    .contains("73728 MiB are in use by no live process", "last known owner pod default/memory-hog");
        }
    }

    private static void remove(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted((a, b) -> b.compareTo(a)).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void hiddenProcessesProveNothing() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("ghosts")) {
            codes(0, node);
            Path self = Files.createDirectories(node.procfs().resolve("self/ns"));
            Files.createSymbolicLink(self.resolve("pid"), Path.of("pid:[4026532999]"));
            assertThat(codes(400, node)).containsOnly("SKIPPED processes-hidden");
        }
    }

    @Test
    void partitionsMpsAndListsThatCannotBeReadAreSkipped() {
        try (SimulatedNode node = SimulatedNode.start("ghosts")) {
            codes(0, node);
            assertThat(codes(400, node, GhostsCheckTest::partitioned)).containsOnly("SKIPPED not-supported");
            GpuProcess server = new GpuProcess(
                    9,
                    GpuProcess.Type.MPS,
                    Reading.of(1L << 20),
                    Reading.absent(Absence.NOT_SUPPORTED),
                    Reading.absent(Absence.NOT_SUPPORTED));
            assertThat(codes(400, node, gpu -> with(gpu, Reading.of(List.of(server)), Reading.of(1L))))
                    .containsOnly("SKIPPED processes-hidden");
            assertThat(codes(400, node, gpu -> with(gpu, Reading.absent(Absence.NOT_SUPPORTED), Reading.of(1L))))
                    .containsOnly("SKIPPED not-supported");
            assertThat(codes(400, node, gpu -> with(gpu, gpu.processes(), Reading.of(61_000_000_000L))))
                    .containsOnly("SKIPPED not-read-yet");
        }
    }

    private static GpuSnapshot partitioned(GpuSnapshot gpu) {
        GpuIdentity g = gpu.identity();
        GpuIdentity partitioned = new GpuIdentity(
                g.index(),
                g.uuid(),
                g.pci(),
                g.minor(),
                g.name(),
                g.serial(),
                g.vbios(),
                g.boardPart(),
                g.computeCapability(),
                g.numaNode(),
                Reading.of(true),
                g.mig(),
                g.nvlinks());
        return new GpuSnapshot(
                partitioned,
                gpu.state(),
                gpu.detail(),
                gpu.frame(),
                gpu.ageNanos(),
                gpu.processes(),
                gpu.processesAgeNanos(),
                0,
                List.of());
    }

    private static GpuSnapshot with(GpuSnapshot gpu, Reading<List<GpuProcess>> processes, Reading<Long> age) {
        return new GpuSnapshot(
                gpu.identity(), gpu.state(), gpu.detail(), gpu.frame(), gpu.ageNanos(), processes, age, 0, List.of());
    }

    @Test
    void driversReserveAndSmallRemaindersAreNoGhosts() {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            node.set("gpu.0.memory.used", "511MiB");
            node.set("gpu.0.memory.reserved", "2GiB");
            codes(0, node);
            assertThat(codes(400, node)).containsExactly("PASS no-ghosts");
            UnaryOperator<GpuSnapshot> older = gpu -> {
                Gpus.absent(gpu.frame(), Absence.NO_SYMBOL, GpuMetric.MEMORY_RESERVED);
                return gpu;
            };
            assertThat(codes(800, node, older)).containsExactly("SKIPPED not-supported");
        }
    }

    @Test
    void largeCardsHaveALargerTolerance() {
        try (SimulatedNode node = SimulatedNode.start("h200x8")) {
            node.set("gpu.0.memory.used", "2GiB");
            node.set("gpu.1.memory.used", "4GiB");
            codes(0, node);
            assertThat(codes(400, node)).startsWith("PASS no-ghosts", "WARN memory-without-process", "PASS no-ghosts");
        }
    }

    /** A context at another time, with notes of earlier runs. */
    private record Later(CheckContext plain, Map<String, Long> notes, Instant now) implements CheckContext {

        @Override
        public NodeSnapshot node() {
            return plain.node();
        }

        @Override
        public GpuHistory history(GpuIdentity gpu) {
            return plain.history(gpu);
        }

        @Override
        public Limits limits() {
            return plain.limits();
        }

        @Override
        public Reading<Long> increase(String counter, long value, Duration window) {
            return plain.increase(counter, value, window);
        }

        @Override
        public Path sysfs() {
            return plain.sysfs();
        }

        @Override
        public Path procfs() {
            return plain.procfs();
        }

        @Override
        public Path podLogs() {
            return plain.podLogs();
        }
    }
}
