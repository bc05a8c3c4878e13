package dev.gpuwarden.daemon.holders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.checks.InMemoryEvents;
import dev.gpuwarden.checks.access.ChildCheck;
import dev.gpuwarden.checks.access.CrashedChecks;
import dev.gpuwarden.checks.access.GpuReservations;
import dev.gpuwarden.checks.access.Isolation;
import dev.gpuwarden.checks.gpu.GpuResultsCheck;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.DriverProvider;
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
import org.junit.jupiter.api.io.TempDir;

/** A simulated node on which launches of kernels are slow, with a kubelet, a sampler and the access of a daemon. */
@Tag("programs")
abstract class SlowNode {

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
    static final long MOST_IDLE_BYTES = 8 << 20;

    @TempDir
    Path root;

    final InMemoryEvents events = new InMemoryEvents();
    SimulatedNode node;
    TestKubelet kubelet;
    NodeSampler sampler;
    GpuReservations access;
    private ChildCheck child;
    private CheckEnvironment around;

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
        child = new ChildCheck(() -> List.of(
                "--driver.library-path=" + node.libraryPath(),
                "--path.sysfs=" + node.sysfs(),
                "--path.procfs=" + node.procfs(),
                "--path.podlogs=" + node.podLogs(),
                "--path.pod-resources=" + root.resolve("kubelet.sock")));
        access = open(Isolation.Mode.process);
    }

    final GpuReservations open(Isolation.Mode mode) {
        return GpuReservations.of(
                sampler,
                PresentPods.of(paths(), sampler::snapshot, GpuHolderLookup.COMMAND_PATIENCE),
                pid -> "process " + pid,
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

    final CompletableFuture<List<Finding>> begin() {
        HealthCheck check = access.isolated(new GpuResultsCheck(), child);
        return CompletableFuture.supplyAsync(
                () -> check.run(CheckContexts.computing(node, BoardLimits.shipped(), access)));
    }

    /** Begins a run as the daemon's runner does; what the check keeps lasts from one to the next. */
    final CompletableFuture<CheckResult> beginRun() {
        CheckPlan plan = CheckPlan.of(List.of(access.isolated(new GpuResultsCheck(), child)));
        CheckEnvironment kept = kept();
        return CompletableFuture.supplyAsync(
                () -> CheckRunner.once(plan, kept, RunListener.NONE).get(0));
    }

    /** Returns the environment of these runs, which lasts as long as a daemon. */
    final CheckEnvironment kept() {
        if (around == null) {
            around = CheckContexts.environment(
                    node, CheckContexts.snapshot(node), BoardLimits.shipped(), RateHistory.NONE, access);
        }
        return around;
    }

    final List<String> inFlight() {
        if (!Files.exists(root.resolve("in-flight"))) {
            return List.of();
        }
        try (Stream<Path> files = Files.list(root.resolve("in-flight"))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    final String uuid(int gpu) {
        return sampler.snapshot().gpus().get(gpu).identity().selector();
    }
}
