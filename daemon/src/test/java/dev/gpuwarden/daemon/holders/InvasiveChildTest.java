package dev.gpuwarden.daemon.holders;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.access.Isolation;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.telemetry.GpuMetric;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Invasive checks in a child process. */
class InvasiveChildTest extends SlowNode {

    /** Launches of both GPUs for the first size. */
    private static final int FIRST = 40;

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
        until(() -> inFlight().size() == 1);
        node.set("fault.slow", "clear");
        // A child of its own measures the other GPU.
        List<Finding> findings = run.join();
        assertThat(findings).extracting(Finding::code).containsExactly("gpu-results-right", "gpu-held");
        until(() -> sampler.snapshot().gpus().get(0).frame().raw(GpuMetric.MEMORY_USED) < MOST_IDLE_BYTES);
        assertThat(inFlight()).isEmpty();
        assertThat(findings.get(0).message()).contains(" (in a child process: CUDA error 700 ");
    }

    @Test
    void proofAgainstOneGpuStandsWhenAPodTakesTheOther() {
        access = open(Isolation.Mode.child);
        node.set("gpu.0.cuda.wrong.pattern", "bit");
        node.set("gpu.0.cuda.wrong.kernel", "wmma_product");
        node.set("gpu.0.cuda.wrong.times", "1");
        CompletableFuture<CheckResult> run = beginRun();
        until(() -> node.control().hits("slow") > FIRST);
        kubelet.says(
                TestKubelet.pod("train-0", "nvidia.com/gpu", uuid(0)),
                TestKubelet.pod("train-1", "nvidia.com/gpu", uuid(1)));
        assertThat(run.join().findings()).extracting(Finding::code).containsExactly("wrong-result-once", "gpu-held");
        assertThat(kept().bootNotes("gpu-results")).containsEntry(uuid(0) + " wrong", 1L);
    }

    @Test
    void childThatCrashesBecomesAFaultThatKeepsTheCheckAway() {
        access = open(Isolation.Mode.child);
        CompletableFuture<List<Finding>> run = begin();
        until(() -> sampler.snapshot().gpus().get(0).frame().raw(GpuMetric.MEMORY_USED) > MOST_IDLE_BYTES);
        kill("-ABRT");
        List<Finding> findings = run.join();
        assertThat(findings).extracting(Finding::code).containsOnly("child-crashed");
        assertThat(findings.get(0).message()).contains("the child crashed", "(code 134)");
        assertThat(events.faults())
                .hasSize(2)
                .allMatch(fault -> fault.key().errorCode().equals("gpu-results"));
        assertThat(begin().join()).extracting(Finding::code).containsOnly("crashed-before");
    }

    private void kill(String signal) {
        int pid = sampler.snapshot()
                .gpus()
                .get(0)
                .processes()
                .asOptional()
                .orElseThrow()
                .get(0)
                .pid();
        try {
            new ProcessBuilder("kill", signal, Integer.toString(pid)).start().waitFor();
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
