package dev.gpuwarden.core.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Subject;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class MeasuredGpusTest {

    private static final Set<String> LOAD = Set.of("gpumem", "nccl-loopback");

    private static Subject gpu(int index) {
        return new Subject("GPU " + index + " (0000:1" + index + ":00.0)", List.of(Entity.gpu("GPU-" + index)));
    }

    private static Finding held(int index) {
        return Finding.skipped("gpu-held", gpu(index), gpu(index).label() + ": held by job 7");
    }

    private static CheckResult result(String id, Finding... findings) {
        return CheckResult.of(CheckInfo.of(id, "GPU", "s."), Instant.EPOCH, Duration.ZERO, List.of(findings));
    }

    @Test
    void aGpuInUseWasNotMeasured() {
        MeasuredGpus seen = MeasuredGpus.of(
                List.of(
                        result("gpu-state", Finding.pass("a", gpu(0), "answers"), Finding.pass("a", gpu(1), "answers")),
                        result("gpumem", held(0), held(1), Finding.pass("good", gpu(2), "good")),
                        result("nccl-loopback", held(0), held(1), Finding.skipped("one-gpu", gpu(2), "alone"))),
                LOAD);
        assertThat(seen.complete()).isFalse();
        assertThat(seen.text()).isEqualTo("1 of 3 GPUs");
        assertThat(seen.reasons()).containsExactly("GPU 0, 1: held by job 7");
    }

    @Test
    void aCheckThatDoesNotApplyLeavesNoGpuOut() {
        MeasuredGpus seen = MeasuredGpus.of(
                List.of(
                        result("gpumem", Finding.pass("good", gpu(0), "good")),
                        result("nccl-loopback", Finding.skipped("no-nccl", gpu(0), "no libnccl.so.2"))),
                LOAD);
        assertThat(seen.complete()).isTrue();
        assertThat(seen.text()).isEqualTo("1 of 1 GPU");
    }

    @Test
    void passiveChecksMeasureNothing() {
        MeasuredGpus seen = MeasuredGpus.of(
                List.of(result("gpu-mig-mode", Finding.skipped("not-supported", gpu(0), "no MIG"))), LOAD);
        assertThat(seen.gpus()).isZero();
        assertThat(seen.complete()).isTrue();
    }

    /** Without libcuda no check with a load measures anything. */
    @Test
    void noMeasurementAtAllIsNotComplete() {
        assertThat(MeasuredGpus.of(
                                List.of(result("gpumem", Finding.skipped("not-measured", gpu(0), "no libcuda.so.1"))),
                                LOAD)
                        .text())
                .isEqualTo("0 of 1 GPU");
    }
}
