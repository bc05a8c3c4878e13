package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.node.PciBus;
import dev.gpuwarden.checks.telemetry.NodeSampler;
import dev.gpuwarden.checks.telemetry.SamplingSettings;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.compute.AllReduceWork;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.testkit.Await;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A call of the check that does not return from NCCL or from the driver, beside the daemon's sampler. */
class NcclHangTest {

    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final AllReduceWork BRIEF = new AllReduceWork(8, 8, Duration.ofSeconds(1), 1, DEADLINE);
    private static final Duration OFTEN = Duration.ofMillis(50);
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    @TempDir
    Path folder;

    private SimulatedNode nodeOnWhichHangs(String function) throws IOException {
        return SimulatedNode.start(Files.writeString(folder.resolve("hang.yaml"), """
                driver: 550
                gpus: [{profile: l4, count: 3}]
                faults: [{name: wedged, function: %s, gpu: 1, hang: yes}]
                """.formatted(function))
                .toString());
    }

    private static NodeSampler sampler(SimulatedNode node) {
        NodeSampler sampler = new NodeSampler(
                ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow(),
                SamplingSettings.of(OFTEN, OFTEN, OFTEN, PATIENCE)
                        .withLibraryPath(node.libraryPath().toString()),
                new PciBus(CheckContexts.paths(node)));
        sampler.start();
        assertThat(sampler.awaitFirst(Duration.ofSeconds(20))).isTrue();
        return sampler;
    }

    private static List<String> codes(List<Finding> findings) {
        return findings.stream()
                .map(finding -> finding.outcome() + " " + finding.code())
                .toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"ncclAllReduce", "cuMemAlloc_v2"})
    void hangingCallIsReportedInTimeAndReadingsStayFresh(String function) throws IOException {
        try (SimulatedNode node = nodeOnWhichHangs(function);
                NodeSampler sampler = sampler(node)) {
            CheckContext context = CheckContexts.computing(
                    node, sampler.snapshot(), Limits.NONE, RateHistory.NONE, CheckContexts.withoutPods());
            // Loaded before the clock runs, as in a daemon.
            assertThat(context.source(CollectiveDriver.class).asOptional()).isPresent();
            NcclLoopbackCheck check = new NcclLoopbackCheck(BRIEF);
            CompletableFuture<List<Finding>> run = CompletableFuture.supplyAsync(() -> check.run(context));
            for (int degrees = 60; !run.isDone(); degrees++) {
                node.set("gpu.all.temperature", degrees + "C");
                int expected = degrees;
                Await.until(
                        () -> sampler.snapshot().gpus().stream()
                                .allMatch(gpu -> gpu.frame().raw(GpuMetric.TEMPERATURE) == expected),
                        () -> "readings are not fresh");
            }
            List<Finding> findings = run.join();
            assertThat(codes(findings))
                    .containsExactly("UNKNOWN not-measured", "WARN NCCL_TIMEOUT", "UNKNOWN not-measured");
            assertThat(findings.get(1).message()).contains("a call of NCCL or of the driver does not return");
            assertThat(check.run(context).get(1).message()).contains("an earlier call has not returned yet");
            node.set("fault.wedged", "clear");
            Await.until(() -> check.run(context).get(1).code().equals("nccl-loopback-good"), () -> "it still hangs");
        }
    }
}
