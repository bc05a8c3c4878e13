package dev.gpuwarden.checks.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.core.health.DriverHealth;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.GpuAnswers;
import dev.gpuwarden.core.health.GpuCount;
import dev.gpuwarden.core.health.Verdict;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The sampler on the simulated driver library, with its own threads and in real time; intervals are short. */
class SimulatedSamplingTest {

    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static SamplingSettings quick(SimulatedNode node) {
        return SamplingSettings.of(
                        Duration.ofMillis(20), Duration.ofMillis(50), Duration.ofMillis(50), Duration.ofMillis(200))
                .withPatience(
                        Duration.ofMillis(100), Duration.ofMillis(500), Duration.ofMillis(50), Duration.ofMillis(100))
                .withLibraryPath(node.libraryPath().toString());
    }

    private static NodeSampler sampler(SimulatedNode node) {
        DriverProvider provider =
                ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow();
        PciBus bus = new PciBus(NodePaths.of(node.procfs(), node.sysfs(), Path.of("/nonexistent")));
        NodeSampler sampler = new NodeSampler(provider, quick(node), bus);
        sampler.start();
        assertThat(sampler.awaitFirst(PATIENCE)).isTrue();
        return sampler;
    }

    private static NodeSnapshot await(NodeSampler sampler, Predicate<NodeSnapshot> condition) {
        long giveUp = System.nanoTime() + PATIENCE.toNanos();
        NodeSnapshot seen = sampler.snapshot();
        while (!condition.test(seen)) {
            assertThat(System.nanoTime() - giveUp).as("seen: %s", seen).isNegative();
            LockSupport.parkNanos(5_000_000);
            seen = sampler.snapshot();
        }
        return seen;
    }

    private static Predicate<NodeSnapshot> state(int gpu, GpuState state) {
        return node -> node.gpus().size() > gpu && node.gpus().get(gpu).state() == state;
    }

    private static Predicate<NodeSnapshot> answering(int gpus) {
        return node -> node.gpus().stream()
                        .filter(gpu -> gpu.state() == GpuState.ANSWERING)
                        .count()
                == gpus;
    }

    private static Verdict verdict(NodeSnapshot node) {
        List<Finding> findings = new ArrayList<>(GpuCount.judge(node));
        findings.addAll(GpuAnswers.judge(node));
        findings.add(DriverHealth.judge(node, Optional.empty(), false));
        return Verdict.of(findings);
    }

    @Test
    void hungGpuCostsItsOwnReadingsUntilReleased() {
        try (SimulatedNode node = SimulatedNode.start("gpu-hang");
                NodeSampler sampler = sampler(node)) {
            NodeSnapshot hung = await(sampler, state(5, GpuState.HUNG).and(answering(7)));
            for (GpuSnapshot gpu : hung.gpus()) {
                boolean other = gpu.identity().index() != 5;
                assertThat(gpu.state() == GpuState.ANSWERING).isEqualTo(other);
                assertThat(gpu.frame().present(GpuMetric.TEMPERATURE)).isEqualTo(other);
            }
            assertThat(verdict(hung)).isEqualTo(Verdict.NOT_FIT);

            await(sampler, n -> sampler.stats().hungThreads() == 2);
            assertThat(sampler.stats().replacementThreads()).isEqualTo(1);

            node.set("fault.hang", "clear");
            NodeSnapshot back = await(sampler, state(5, GpuState.ANSWERING));
            assertThat(back.gpus().get(5).identity().uuid()).isInstanceOf(Reading.Present.class);
            await(sampler, n -> sampler.stats().hungThreads() == 0 && verdict(n) == Verdict.FIT);
            assertThat(sampler.stats().replacementThreads()).isEqualTo(1);
        }
    }

    @Test
    void lostGpuReturns() {
        try (SimulatedNode node = SimulatedNode.start("h100x8");
                NodeSampler sampler = sampler(node)) {
            assertThat(verdict(sampler.snapshot())).isEqualTo(Verdict.FIT);
            node.set("gpu.3.state", "lost");
            NodeSnapshot lost = await(sampler, state(3, GpuState.LOST));
            assertThat(lost.gpus().get(3).identity().name()).isInstanceOf(Reading.Present.class);
            assertThat(lost.gpus().get(3).frame().absence(GpuMetric.TEMPERATURE.ordinal()))
                    .isEqualTo(Absence.GPU_LOST);
            assertThat(lost.gpus().get(4).state()).isEqualTo(GpuState.ANSWERING);

            node.set("gpu.3.state", "ok");
            await(sampler, state(3, GpuState.ANSWERING));
        }
    }

    @Test
    void unlistedGpuIsGoneUntilListedAgain() {
        try (SimulatedNode node = SimulatedNode.start("h100x8");
                NodeSampler sampler = sampler(node)) {
            Reading<String> uuid = sampler.snapshot().gpus().get(2).identity().uuid();
            node.set("gpu.2.state", "unlisted");
            NodeSnapshot gone = await(sampler, n -> n.gpus().stream().anyMatch(g -> g.state() == GpuState.GONE));
            assertThat(gone.gpus()).hasSize(8);
            assertThat(gone.gpus().get(7).identity().uuid()).isEqualTo(uuid);
            assertThat(verdict(gone)).isEqualTo(Verdict.NOT_FIT);

            node.set("gpu.2.state", "ok");
            // The GPU answers a moment before it is in the driver's order again.
            NodeSnapshot back = await(
                    sampler,
                    n -> verdict(n) == Verdict.FIT
                            && n.gpus().get(2).identity().uuid().equals(uuid));
            for (int i = 0; i < 8; i++) {
                assertThat(back.gpus().get(i).identity().index()).isEqualTo(i);
            }
        }
    }

    @Test
    void driverLoadedLaterIsFound() {
        try (SimulatedNode node = SimulatedNode.start("no-driver");
                NodeSampler sampler = sampler(node)) {
            assertThat(sampler.snapshot().driver()).isInstanceOf(DriverState.Unavailable.class);
            assertThat(verdict(sampler.snapshot())).isEqualTo(Verdict.NOT_FIT);
            node.set("node.init", "0");
            NodeSnapshot found = await(sampler, n -> n.driver() instanceof DriverState.Running);
            assertThat(found.gpus()).hasSize(8);
            assertThat(sampler.stats().driverOpenings()).isGreaterThan(1);
        }
    }

    @Test
    void implausibleValuesAreRefusedAndCounted() {
        try (SimulatedNode node = SimulatedNode.start("liar");
                NodeSampler sampler = sampler(node)) {
            NodeSnapshot seen = sampler.snapshot();
            assertThat(seen.gpus().get(0).frame().absence(GpuMetric.UTILIZATION_GPU.ordinal()))
                    .isEqualTo(Absence.IMPLAUSIBLE);
            assertThat(seen.gpus().get(0).refusedValues()).isPositive();
            assertThat(seen.gpus().get(1).refusedValues()).isZero();
            assertThat(sampler.refusals()).isNotEmpty();
        }
    }

    @Test
    void partitionsAreRead() {
        try (SimulatedNode node = SimulatedNode.start("a100-mig");
                NodeSampler sampler = sampler(node)) {
            GpuSnapshot parent = sampler.snapshot().gpus().get(0);
            assertThat(parent.mig()).hasSize(4);
            assertThat(parent.mig()).allMatch(mig -> mig.frame().present(GpuMetric.MEMORY_TOTAL));
        }
    }

    @Test
    void closesQuicklyWhileAThreadHangs() {
        try (SimulatedNode node = SimulatedNode.start("gpu-hang")) {
            NodeSampler sampler = sampler(node);
            sampler.close();
        }
    }

    @Test
    void releasedGpuIsHeldByNoFileWhileTheOthersAreRead() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("l4x4");
                NodeSampler sampler = sampler(node)) {
            await(sampler, answering(4));
            assertThat(openFiles(node)).containsExactlyInAnyOrder("nvidia0", "nvidia1", "nvidia2", "nvidia3");
            long start = System.nanoTime();
            assertThat(sampler.release(Map.of(2, "a reset")).get(10, TimeUnit.SECONDS))
                    .isEmpty();
            long released = System.nanoTime();
            await(sampler, readSince(released, 0, 1, 3));
            assertThat(Duration.ofNanos(System.nanoTime() - start))
                    .as("three ticks of the default settings")
                    .isLessThan(new SamplingSettings().fastInterval.multipliedBy(3));
            NodeSnapshot during = await(sampler, state(2, GpuState.RELEASED).and(answering(3)));
            assertThat(during.gpus().get(2).detail()).isEqualTo("released for a reset");
            await(sampler, seen -> openFiles(node).equals(Set.of("nvidia0", "nvidia1", "nvidia3")));
            assertThat(verdict(sampler.snapshot())).isEqualTo(Verdict.FIT);
            assertThat(sampler.release(Map.of(0, "a reset", 2, "a reset")).get(10, TimeUnit.SECONDS))
                    .isEmpty();
            // The others are opened at their next reading.
            await(sampler, seen -> openFiles(node).equals(Set.of("nvidia1", "nvidia3")));
            assertThat(sampler.release(Map.of(0, "a reset")).get(10, TimeUnit.SECONDS))
                    .isEmpty();
            await(sampler, answering(3));
            assertThat(sampler.release(Map.of()).get(10, TimeUnit.SECONDS)).isEmpty();
            await(sampler, answering(4));
            assertThat(openFiles(node)).hasSize(4);
        }
    }

    /** Returns true once the driver has answered for these GPUs after a time. */
    private static Predicate<NodeSnapshot> readSince(long nanoTime, int... gpus) {
        return node -> IntStream.of(gpus)
                .allMatch(gpu -> node.gpus()
                        .get(gpu)
                        .ageNanos()
                        .asOptional()
                        .filter(age -> age < System.nanoTime() - nanoTime)
                        .isPresent());
    }

    /** Returns the files of GPUs of this node that this process holds open. */
    private static Set<String> openFiles(SimulatedNode node) {
        Set<String> names = new TreeSet<>();
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path link : open) {
                try {
                    Path file = Files.readSymbolicLink(link);
                    if (file.startsWith(node.root())
                            && file.getFileName().toString().matches("nvidia\\d+")) {
                        names.add(file.getFileName().toString());
                    }
                } catch (NoSuchFileException e) {
                    // Closed since the listing.
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return names;
    }
}
