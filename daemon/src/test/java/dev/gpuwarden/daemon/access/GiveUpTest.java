package dev.gpuwarden.daemon.access;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.daemon.access.GpuRelease.Released;
import dev.gpuwarden.daemon.check.CheckContexts;
import dev.gpuwarden.daemon.check.InMemoryEvents;
import dev.gpuwarden.daemon.check.gpu.GpuResultsCheck;
import dev.gpuwarden.daemon.holders.PresentPods;
import dev.gpuwarden.daemon.holders.TestKubelet;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.daemon.node.PciBus;
import dev.gpuwarden.daemon.telemetry.NodeSampler;
import dev.gpuwarden.daemon.telemetry.SamplingSettings;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Invasive checks on a simulated node, on which launches of kernels are slow, with a kubelet and a sampler. */
@Tag("programs")
@Timeout(60)
class GiveUpTest {

    private static final String SLOW = """
            driver: 550
            gpus:
              - profile: l4
                count: 2
            faults:
              - {name: slow, function: cuLaunchKernel, delay: 200ms}
            timeline:
              - at: 10s
                start: {pid: 4242, gpu: 1, bytes: 1GiB}
            """;
    /** The driver's reserve is not among it. */
    private static final long MOST_IDLE_BYTES = 8 << 20;

    @TempDir
    Path root;

    private final InMemoryEvents events = new InMemoryEvents();
    private SimulatedNode node;
    private TestKubelet kubelet;
    private NodeSampler sampler;
    private GpuReservations access;
    private ChildCheck child;

    @BeforeEach
    void start() throws IOException {
        Path scenario = Files.writeString(root.resolve("slow.yaml"), SLOW);
        node = SimulatedNode.start(scenario.toString());
        kubelet = new TestKubelet(root.resolve("kubelet.sock"));
        Duration soon = Duration.ofSeconds(2);
        SamplingSettings settings = SamplingSettings.of(
                        Duration.ofMillis(200), Duration.ofSeconds(1), Duration.ofSeconds(15), soon)
                .withLibraryPath(node.libraryPath().toString());
        sampler = new NodeSampler(
                ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow(), settings, new PciBus(paths()));
        sampler.start();
        assertThat(sampler.awaitFirst(Duration.ofSeconds(20))).isTrue();
        child = new ChildCheck(List.of(
                "--driver.library-path=" + node.libraryPath(),
                "--path.sysfs=" + node.sysfs(),
                "--path.procfs=" + node.procfs(),
                "--path.podlogs=" + node.podLogs(),
                "--path.pod-resources=" + root.resolve("kubelet.sock")));
        access = open(Isolation.Mode.process);
    }

    private GpuReservations open(Isolation.Mode mode) {
        return GpuReservations.of(
                sampler,
                PresentPods.of(paths(), sampler::snapshot),
                Optional.of(root.resolve("in-flight")),
                new CrashedChecks(events, events, "node-1", Clock.systemUTC()),
                true,
                new Isolation(mode, () -> false, () -> Reading.absent(Absence.NO_DATA)));
    }

    @AfterEach
    void stop() {
        access.close();
        sampler.close();
        kubelet.close();
        node.close();
    }

    private NodePaths paths() {
        return CheckContexts.paths(node).withPodResources(root.resolve("kubelet.sock"));
    }

    private CompletableFuture<List<Finding>> begin() {
        HealthCheck check = access.isolated(new GpuResultsCheck(), child);
        return CompletableFuture.supplyAsync(
                () -> check.run(CheckContexts.computing(node, BoardLimits.shipped(), access)));
    }

    private List<String> inFlight() {
        if (!Files.exists(root.resolve("in-flight"))) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(root.resolve("in-flight"))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private String uuid(int gpu) {
        return sampler.snapshot().gpus().get(gpu).identity().selector();
    }

    @Test
    void processThatArrivesGetsItsGpuAndTheOtherGpuIsMeasured() {
        CompletableFuture<List<Finding>> run = begin();
        until(() -> inFlight().size() == 2);
        assertThat(inFlight()).allMatch(name -> name.matches("gpu-results@GPU-.*\\.in-flight"));
        node.advanceTo(Duration.ofSeconds(10));
        until(() -> inFlight().size() == 1);
        node.set("fault.slow", "clear");
        List<Finding> findings = run.join();
        assertThat(findings).extracting(Finding::code).containsExactly("gpu-results-right", "gpu-held");
        assertThat(findings.get(1).message()).contains("held by process 4242");
        assertThat(inFlight()).isEmpty();
    }

    @Test
    void podThatArrivesAndAReleaseEndTheCheckAndFreeMemory() {
        CompletableFuture<List<Finding>> run = begin();
        until(() -> inFlight().size() == 2);
        try (Released released = access.release(uuid(0), "a reset", Duration.ofSeconds(10))) {
            assertThat(released.isFree()).isTrue();
            assertThat(inFlight()).hasSize(1);
            until(() -> sampler.snapshot().gpus().get(0).frame().raw(GpuMetric.MEMORY_USED) < MOST_IDLE_BYTES);
            kubelet.says(TestKubelet.pod("train-0", "nvidia.com/gpu", uuid(1)));
            List<Finding> findings = run.join();
            assertThat(findings).extracting(Finding::code).containsExactly("gpu-released", "gpu-held");
            assertThat(findings.get(0).message()).contains("released for a reset");
            assertThat(findings.get(1).message()).contains("held by pod ml/train-0");
            assertThat(begin().join()).extracting(Finding::code).containsExactly("gpu-released", "gpu-held");
        }
        kubelet.says();
        node.set("fault.slow", "clear");
        assertThat(begin().join()).extracting(Finding::code).containsOnly("gpu-results-right");
    }

    @Test
    void spoiledContextLeadsToAChildWhichEndsForAPod() {
        access = open(Isolation.Mode.auto);
        node.set("gpu.0.cuda.error", "illegal-address");
        node.set("gpu.1.cuda.error", "illegal-address");
        assertThat(begin().join()).extracting(Finding::code).containsOnly("not-measured");
        node.set("gpu.0.cuda.error", "none");
        node.set("gpu.1.cuda.error", "none");
        CompletableFuture<List<Finding>> run = begin();
        until(() -> sampler.snapshot().gpus().get(0).frame().raw(GpuMetric.MEMORY_USED) > MOST_IDLE_BYTES);
        kubelet.says(TestKubelet.pod("train-0", "nvidia.com/gpu", uuid(1)));
        assertThat(run.join()).extracting(Finding::code).containsExactly("check-ended", "gpu-held");
        until(() -> sampler.snapshot().gpus().get(0).frame().raw(GpuMetric.MEMORY_USED) < MOST_IDLE_BYTES);
        assertThat(inFlight()).isEmpty();
        node.set("fault.slow", "clear");
        List<Finding> findings = begin().join();
        assertThat(findings).extracting(Finding::code).containsExactly("gpu-results-right", "gpu-held");
        assertThat(findings.get(0).message()).contains(" (in a child process: CUDA error 700 ");
    }

    @Test
    void childThatCrashesBecomesAFaultThatKeepsTheCheckAway() throws IOException {
        access = open(Isolation.Mode.child);
        CompletableFuture<List<Finding>> run = begin();
        until(() -> sampler.snapshot().gpus().get(0).frame().raw(GpuMetric.MEMORY_USED) > MOST_IDLE_BYTES);
        int pid = sampler.snapshot()
                .gpus()
                .get(0)
                .processes()
                .asOptional()
                .orElseThrow()
                .get(0)
                .pid();
        new ProcessBuilder("kill", "-ABRT", Integer.toString(pid)).start();
        List<Finding> findings = run.join();
        assertThat(findings).extracting(Finding::code).containsOnly("child-crashed");
        assertThat(findings.get(0).message()).contains("the child crashed", "(code 134)");
        assertThat(events.faults())
                .hasSize(2)
                .allMatch(fault -> fault.key().errorCode().equals("gpu-results"));
        assertThat(begin().join()).extracting(Finding::code).containsOnly("crashed-before");
    }

    @Test
    void stopOfTheDaemonEndsTheCheckWithoutACrash() {
        CompletableFuture<List<Finding>> run = begin();
        until(() -> inFlight().size() == 2);
        access.close();
        assertThat(inFlight()).isEmpty();
        assertThat(run.join()).extracting(Finding::code).containsOnly("gpu-released");
    }
}
