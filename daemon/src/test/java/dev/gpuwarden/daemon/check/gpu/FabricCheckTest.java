package dev.gpuwarden.daemon.check.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FabricCheckTest {

    private static final Limits LIMITS = BoardLimits.shipped();
    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

    private final Map<String, Long> notes = new HashMap<>();

    private Finding at(int second, GpuSnapshot gpu) {
        return new FabricCheck()
                .finding(
                        gpu,
                        new Gpus.Context(
                                Snapshots.running(1, gpu), GpuHistory.NONE, LIMITS, notes, NOW.plusSeconds(second)));
    }

    private static GpuSnapshot in(long state, long status) {
        return Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.FABRIC_STATE, state);
            Gpus.put(frame, GpuMetric.FABRIC_STATUS, status);
        });
    }

    @Test
    void registrationUnderWayIsUnknownThenWarn() {
        assertThat(at(0, in(2, 0)).code()).isEqualTo("fabric-registering");
        assertThat(at(599, in(1, 0)).code()).isEqualTo("fabric-registering");
        Finding late = at(600, in(1, 0));
        assertThat(late.code()).isEqualTo("fabric-not-registered");
        assertThat(late.message()).contains("within 600 (limits.tsv:", "has not begun for 600");
        assertThat(at(601, in(3, 0)).code()).isEqualTo("fabric-healthy");
        assertThat(at(1000, in(2, 0)).code()).as("begins anew").isEqualTo("fabric-registering");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            3 | 999 | 0 | 0     | FAIL fabric-failed
            3 | 0   | 1 | 0x199 | PASS fabric-healthy
            3 | 0   | 2 | 0x1aa | FAIL fabric-unhealthy
            3 | 0   | 3 | 0x1aa | WARN fabric-limited
            3 | 0   | 0 | 0x1aa | PASS fabric-healthy
            3 | 0   | 0 | 0     | PASS fabric-healthy
            3 | 0   | 0 | 0x1a9 | WARN fabric-limited
            3 | 0   | 0 | 0x1a6 | WARN fabric-limited
            3 | 0   | 0 | 0x19a | FAIL fabric-unhealthy
            3 | 0   | 0 | 0x5aa | FAIL fabric-unhealthy
            0 | 0   | 0 | 0     | SKIPPED no-fabric
            """)
    void fabricHealthDecidesTheOutcome(long state, long status, long summary, String mask, String judged) {
        GpuSnapshot gpu = Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.FABRIC_STATE, state);
            Gpus.put(frame, GpuMetric.FABRIC_STATUS, status);
            Gpus.put(frame, GpuMetric.FABRIC_HEALTH_SUMMARY, summary);
            Gpus.put(frame, GpuMetric.FABRIC_HEALTH_MASK, Long.decode(mask));
        });
        Finding finding = at(0, gpu);
        assertThat(finding.outcome() + " " + finding.code()).isEqualTo(judged);
        if (finding.code().equals("fabric-unhealthy") || finding.code().equals("fabric-limited")) {
            assertThat(finding.message()).doesNotEndWith("reports ");
        }
    }

    @Test
    void boardsWithoutAFabricAreSkipped() {
        GpuSnapshot t4 = Gpus.gpu(frame -> Gpus.absent(frame, Absence.NOT_SUPPORTED, GpuMetric.FABRIC_STATE));
        assertThat(at(0, t4).code()).isEqualTo("not-supported");
        assertThat(notes).isEmpty();
    }
}
