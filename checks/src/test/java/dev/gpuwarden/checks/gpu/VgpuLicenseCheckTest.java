package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class VgpuLicenseCheckTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            # mode, features, licensed, young
            0 | 0 | 0 | false | SKIPPED no-vgpu-guest
            1 | 1 | 0 | false | SKIPPED no-vgpu-guest
            3 | 0 | 0 | false | SKIPPED no-vgpu-guest
            2 | 1 | 1 | false | PASS vgpu-licensed
            2 | 1 | 1 | true  | PASS vgpu-licensed
            2 | 1 | 0 | true  | UNKNOWN vgpu-license-awaited
            2 | 1 | 0 | false | WARN vgpu-unlicensed
            2 | 0 | 0 | false | SKIPPED no-licensable-feature
            2 | 0 | 0 | true  | UNKNOWN vgpu-license-awaited
              | 1 | 0 | false | SKIPPED not-supported
            2 |   |   | false | SKIPPED not-supported
            """)
    void guestAloneNeedsALicence(Long mode, Long licensable, Long licensed, boolean young, String expected) {
        GpuSnapshot gpu = Gpus.gpu(frame -> {
            put(frame, GpuMetric.VIRTUALIZATION_MODE, mode);
            put(frame, GpuMetric.VGPU_LICENSABLE_FEATURES, licensable);
            put(frame, GpuMetric.VGPU_LICENSED_FEATURES, licensed);
        });
        Finding finding = new VgpuLicenseCheck()
                .finding(
                        gpu,
                        new Gpus.Context(
                                Snapshots.running(1, gpu),
                                GpuHistory.NONE,
                                BoardLimits.shipped(),
                                new HashMap<>(),
                                Instant.EPOCH,
                                young ? Optional.of("the node is young") : Optional.empty(),
                                Path.of("/proc")));
        assertThat(finding.outcome() + " " + finding.code()).isEqualTo(expected);
    }

    private static void put(GpuFrame frame, GpuMetric metric, Long value) {
        if (value != null) {
            Gpus.put(frame, metric, value);
        }
    }
}
