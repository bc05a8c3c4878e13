package dev.gpuwarden.daemon.holders;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.access.GpuRelease.Released;
import dev.gpuwarden.checks.gpu.GpuResultsCheck;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuAccess.Grant;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** Invasive checks that must let go of a GPU. */
class GiveUpTest extends SlowNode {

    @Test
    void processThatArrivesGetsItsGpuAndTheOtherGpuIsMeasured() {
        CompletableFuture<List<Finding>> run = begin();
        // A record has another name while it is written.
        until(() ->
                inFlight().stream().filter(name -> name.endsWith(".in-flight")).count() == 2);
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
    void ownWorkOfTheCheckBeforeIsNoWorkload() {
        CompletableFuture<List<Finding>> run = begin();
        until(() -> sampler.snapshot().gpus().stream()
                .allMatch(gpu -> gpu.processes()
                        .asOptional()
                        .filter(processes -> !processes.isEmpty())
                        .isPresent()));
        NodeSnapshot during = sampler.snapshot();
        node.set("fault.slow", "clear");
        assertThat(run.join()).extracting(Finding::code).containsOnly("gpu-results-right");
        CheckContext next = CheckContexts.computing(node, during, BoardLimits.shipped(), RateHistory.NONE, access);
        assertThat(new GpuResultsCheck().run(next)).extracting(Finding::code).containsOnly("gpu-results-right");
    }

    @Test
    void gpuWithACallThatHangsIsNotFreeUntilTheCallReturns() {
        AtomicBoolean returned = new AtomicBoolean();
        List<GpuSnapshot> first = sampler.snapshot().gpus().subList(0, 1);
        Grant grant = (Grant) access.request("gpumem", GpuLoad.INVASIVE, first).get(0);
        grant.closeWhen(returned::get);
        assertThat(access.request("gpu-results", GpuLoad.INVASIVE, first))
                .containsExactly(new Refusal("gpu-in-check", "the check gpumem hangs in the driver with the GPU"));
        try (Released released = access.release(uuid(0), "a reset", Duration.ofMillis(200))) {
            assertThat(released.isFree()).isFalse();
            assertThat(inFlight()).hasSize(1);
            returned.set(true);
            assertThat(released.isFree()).isTrue();
        }
        assertThat(inFlight()).isEmpty();
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
