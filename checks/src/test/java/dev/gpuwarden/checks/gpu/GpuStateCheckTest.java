package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The course of a GPU's state, from run to run. */
class GpuStateCheckTest {

    private final Map<String, Long> notes = new HashMap<>();
    private final GpuStateCheck check = new GpuStateCheck();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private Optional<String> young = Optional.empty();

    private String run(GpuState state, int times) {
        Finding finding = run(state);
        for (int i = 1; i < times; i++) {
            finding = run(state);
        }
        return finding.outcome() + " " + finding.code();
    }

    private Finding run(GpuState state) {
        GpuSnapshot gpu = Snapshots.gpu(
                0, state, frame -> absent(frame, state == GpuState.ANSWERING ? Absence.PRESENT : Absence.FAILED));
        now = now.plus(check.info().every());
        return check.run(new Gpus.Context(Snapshots.running(1, gpu), GpuHistory.NONE, Limits.NONE, notes, now, young))
                .get(0);
    }

    private static void absent(GpuFrame frame, Absence cause) {
        for (int i = 0; i < GpuMetric.count() && cause != Absence.PRESENT; i++) {
            frame.putAbsent(i, cause, 999);
        }
    }

    @Test
    void errorsAloneAreUnknownAndThenAFault() {
        assertThat(run(GpuState.ANSWERING, 1)).isEqualTo("PASS gpu-answering");
        assertThat(run(GpuState.UNREADABLE, 4)).isEqualTo("UNKNOWN gpu-unreadable");
        assertThat(run(GpuState.UNREADABLE, 1)).isEqualTo("FAIL gpu-unreadable");
        assertThat(run(GpuState.ANSWERING, 1)).isEqualTo("PASS gpu-answering");
        assertThat(run(GpuState.UNREADABLE, 1)).as("from the beginning").isEqualTo("UNKNOWN gpu-unreadable");
    }

    @Test
    void lostGpuThatThenReturnsErrorsStaysLost() {
        assertThat(run(GpuState.LOST, 1)).isEqualTo("FAIL gpu-lost");
        assertThat(run(GpuState.UNREADABLE, 40)).isEqualTo("FAIL gpu-lost");
        assertThat(run(GpuState.ANSWERING, 1)).isEqualTo("PASS gpu-answering");
        run(GpuState.HUNG, 1);
        assertThat(run(GpuState.UNREADABLE, 1)).isEqualTo("FAIL gpu-hung");
    }

    @Test
    void gpuOfAYoungNodeWaitsUnlessItAnsweredBefore() {
        young = Optional.of("the node is young");
        assertThat(run(GpuState.UNREADABLE, 40)).isEqualTo("UNKNOWN gpu-unreadable");
        young = Optional.empty();
        assertThat(run(GpuState.UNREADABLE, 1)).isEqualTo("FAIL gpu-unreadable");
        run(GpuState.ANSWERING, 1);
        young = Optional.of("the node is young");
        assertThat(run(GpuState.UNREADABLE, 5)).isEqualTo("FAIL gpu-unreadable");
    }

    @Test
    void aPauseOfTheDaemonDoesNotMakeAFault() {
        run(GpuState.UNREADABLE, 1);
        now = now.plus(Duration.ofHours(1));
        assertThat(run(GpuState.UNREADABLE, 1)).isEqualTo("UNKNOWN gpu-unreadable");
    }
}
