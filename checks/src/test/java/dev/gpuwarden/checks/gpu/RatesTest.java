package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.telemetry.DrivenNode;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Checks that evaluate time, on a simulated node in virtual time: from the driver library over history to the finding.
 */
class RatesTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final BoardLimits LIMITS = BoardLimits.shipped();

    private static Finding run(DrivenNode node, GpuCheck check) {
        GpuSnapshot gpu = node.snapshot().gpus().get(0);
        return Gpus.finding(check, gpu, node.history().of(gpu.identity()), LIMITS);
    }

    private static Finding clocks(DrivenNode node) {
        return run(node, new ClocksCheck());
    }

    private static Finding brake(DrivenNode node) {
        return run(node, new PowerBrakeCheck());
    }

    private static Finding replays(DrivenNode node) {
        return run(node, new PcieReplaysCheck());
    }

    /** Sets these reasons for so many seconds of each minute, none for the rest, over this time. */
    private static void slowed(DrivenNode node, String reasons, int seconds, int minutes) {
        for (int minute = 0; minute < minutes; minute++) {
            node.simulated().set("gpu.0.clock.reasons", reasons);
            node.pass(Duration.ofSeconds(seconds));
            node.simulated().set("gpu.0.clock.reasons", "none");
            node.pass(Duration.ofSeconds(60 - seconds));
        }
    }

    @ParameterizedTest
    @CsvSource({
        "hw-slowdown+hw-thermal, 40, hw-thermal-slowdown, power-brake-off",
        "hw-slowdown+hw-thermal, 30, clocks-free, power-brake-off",
        "hw-slowdown+hw-power-brake, 40, clocks-free, power-brake",
        "hw-slowdown, 40, hw-slowdown, power-brake-off",
        "hw-slowdown, 30, clocks-free, power-brake-off",
        "sw-thermal, 40, sw-thermal-slowdown, power-brake-off",
        "sw-power-cap+sync-boost, 59, clocks-free, power-brake-off",
    })
    void slowdownsAreEvaluatedByTheirShareOfTenMinutes(String reasons, int seconds, String clocks, String brake) {
        try (DrivenNode node = new DrivenNode("t4")) {
            slowed(node, reasons, seconds, 12);
            assertThat(clocks(node).code()).isEqualTo(clocks);
            assertThat(brake(node).code()).isEqualTo(brake);
        }
    }

    @Test
    void presentReasonCountsUntilTheWindowIsCovered() {
        try (DrivenNode node = new DrivenNode("t4")) {
            node.simulated().set("gpu.0.clock.reasons", "hw-slowdown+hw-power-brake");
            node.pass(MINUTE);
            assertThat(brake(node).outcome()).isEqualTo(Outcome.WARN);
            assertThat(brake(node).message())
                    .endsWith("the power brake holds clocks down now; its share of the time is not known yet");
            assertThat(clocks(node).outcome()).isEqualTo(Outcome.PASS);
            node.simulated().set("gpu.0.clock.reasons", "idle");
            node.pass(MINUTE);
            assertThat(brake(node).outcome()).isEqualTo(Outcome.PASS);
        }
    }

    @Test
    void oneBadMinuteDoesNotExceedTheRate() {
        try (DrivenNode node = new DrivenNode("t4")) {
            node.pass(MINUTE.multipliedBy(11));
            node.simulated().set("gpu.0.clock.reasons", "hw-slowdown+hw-thermal");
            node.pass(MINUTE);
            assertThat(clocks(node).outcome()).isEqualTo(Outcome.PASS);
            // 7 minutes of the 9:45 that whole steps have seen.
            node.pass(MINUTE.multipliedBy(6));
            assertThat(clocks(node).message())
                    .contains("hardware thermal slowdown for less than 0.6 (limits.tsv:")
                    .endsWith(" of the last 10 minutes, but it was 72 %");
        }
    }

    @Test
    void replayRateIsEvaluatedAndSkippedAcrossAReset() {
        try (DrivenNode node = new DrivenNode("t4")) {
            assertThat(counted(node, 5000, 0, 1)).isEqualTo("needs-time SKIPPED");
            assertThat(counted(node, 5000, 0, 11)).isEqualTo("pcie-replays-few PASS");
            assertThat(counted(node, 5000, 9, 11)).isEqualTo("pcie-replays-many WARN");
            // The driver was loaded again.
            assertThat(counted(node, 3, 0, 1)).isEqualTo("needs-time SKIPPED");
            assertThat(counted(node, 3, 0, 11)).isEqualTo("pcie-replays-few PASS");
            assertThat(counted(node, 0, 0, 1)).isEqualTo("pcie-replays-few PASS");
        }
    }

    @Test
    void stormIsReportedBeforeTheWindowIsCovered() {
        try (DrivenNode node = new DrivenNode("t4")) {
            assertThat(counted(node, 100, 30, 2)).isEqualTo("needs-time SKIPPED");
            // More than 80, which is the limit's worth of ten minutes, in the two that history covers.
            assertThat(counted(node, 200, 90, 2)).isEqualTo("pcie-replays-many WARN");
        }
    }

    @Test
    void repeatedLinkTrainingIsReported() {
        try (DrivenNode node = new DrivenNode("a100-mig")) {
            node.pass(MINUTE);
            node.simulated().set("gpu.1.nvlink.5.recoveries", "2");
            node.pass(MINUTE);
            assertThat(links(node).code()).isEqualTo("nvlink-up");
            node.simulated().set("gpu.1.nvlink.5.recoveries", "3");
            node.pass(MINUTE);
            assertThat(links(node).message()).contains("0.3 recoveries a minute on link 5, limit 0.25 (limits.tsv:");
        }
    }

    private static Finding links(DrivenNode node) {
        GpuSnapshot gpu = node.snapshot().gpus().get(1);
        return new NvLinkCheck()
                .finding(gpu, Gpus.context(node.snapshot(), node.history().of(gpu.identity()), LIMITS));
    }

    private static String counted(DrivenNode node, int from, int perMinute, int minutes) {
        for (int minute = 0; minute < minutes; minute++) {
            node.simulated().set("gpu.0.pcie.replays", Integer.toString(from + minute * perMinute));
            node.pass(MINUTE);
        }
        Finding finding = replays(node);
        return finding.code() + " " + finding.outcome();
    }

    @Test
    void correctedErrorRateIsEvaluated() {
        try (DrivenNode node = new DrivenNode("t4")) {
            for (int minute = 0; minute < 12; minute++) {
                node.simulated().set("gpu.0.ecc.volatile.corrected", Integer.toString(1000 + minute * 20_000));
                node.pass(MINUTE);
            }
            Finding finding = run(node, new EccCheck());
            assertThat(finding.code()).isEqualTo("ecc-corrected-rate");
            assertThat(finding.outcome()).isEqualTo(Outcome.WARN);
        }
    }

    @Test
    void linksWithErrorsAreNamed() {
        try (DrivenNode node = new DrivenNode("a100-mig")) {
            for (int minute = 0; minute < 12; minute++) {
                node.simulated().set("gpu.1.nvlink.5.replays", Integer.toString(minute * 3));
                node.simulated().set("gpu.1.nvlink.7.crc-flit-errors", Integer.toString(minute * 5000));
                node.pass(MINUTE);
            }
            Finding finding = links(node);
            assertThat(finding.code()).isEqualTo("nvlink-errors");
            assertThat(finding.message()).contains(" replays a minute on link 5, limit 1 (limits.tsv:");
            assertThat(finding.message()).doesNotContain("link 7");
        }
    }
}
