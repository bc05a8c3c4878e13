package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** ECC, retired pages and remapped rows, for readings that simulated nodes do not have. */
class MemoryChecksTest {

    private static final BoardLimits LIMITS = BoardLimits.shipped();

    private static GpuSnapshot ecc(Consumer<GpuFrame> change) {
        return Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.ECC_MODE, 1);
            Gpus.put(frame, GpuMetric.ECC_MODE_PENDING, 1);
            Gpus.put(frame, GpuMetric.ECC_VOLATILE_UNCORRECTED, 0);
            Gpus.put(frame, GpuMetric.ECC_VOLATILE_CORRECTED, 0);
            Gpus.put(frame, GpuMetric.ECC_SRAM_THRESHOLD_EXCEEDED, 0);
            change.accept(frame);
        });
    }

    private static Finding judged(GpuSnapshot gpu) {
        return Gpus.finding(new EccCheck(), gpu, GpuHistory.NONE, LIMITS);
    }

    @Test
    void worstPartGivesCodeAndActionAndAllPartsAreInTheMessage() {
        Finding finding = judged(ecc(frame -> {
            Gpus.put(frame, GpuMetric.ECC_SRAM_THRESHOLD_EXCEEDED, 1);
            Gpus.put(frame, GpuMetric.ECC_VOLATILE_UNCORRECTED, 3);
            Gpus.put(frame, GpuMetric.ECC_MODE_PENDING, 0);
        }));
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.code()).isEqualTo("sram-threshold-exceeded");
        assertThat(finding.action()).isEqualTo(RecommendedAction.RUN_FIELDDIAG);
        assertThat(finding.message()).contains("threshold", "; ", "there are 3", "on now and off after the next reset");
        assertThat(finding.evidence()).hasSize(3);
    }

    @ParameterizedTest
    @EnumSource(
            value = Absence.class,
            names = {"NOT_SUPPORTED", "NO_SYMBOL", "NO_DATA", "PENDING"})
    void unsupportedReadingsAreSkipped(Absence cause) {
        Finding finding = judged(ecc(frame -> Gpus.absent(frame, cause, GpuMetric.ECC_MODE)));
        assertThat(finding.outcome()).isEqualTo(Outcome.SKIPPED);
        assertThat(finding.message()).contains("ecc mode: " + cause.text());
    }

    @ParameterizedTest
    @EnumSource(
            value = Absence.class,
            names = {"FAILED", "IMPLAUSIBLE", "STALE", "NO_PERMISSION", "GPU_LOST"})
    void failedReadingsAreUnknown(Absence cause) {
        Finding finding = judged(ecc(frame -> Gpus.absent(frame, cause, GpuMetric.ECC_VOLATILE_UNCORRECTED)));
        assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
        assertThat(finding.code()).isEqualTo("not-readable");
    }

    @Test
    void oldDriverWithoutSramThresholdPasses() {
        Finding finding =
                judged(ecc(frame -> Gpus.absent(frame, Absence.NO_SYMBOL, GpuMetric.ECC_SRAM_THRESHOLD_EXCEEDED)));
        assertThat(finding.outcome()).isEqualTo(Outcome.PASS);
        assertThat(finding.code()).isEqualTo("ecc-sound");
    }

    @ParameterizedTest
    @CsvSource({
        "NVIDIA H100 80GB HBM3, WARN",
        "Tesla T4, WARN",
        "NVIDIA GeForce RTX 4090, SKIPPED",
        "NVIDIA A10G, SKIPPED",
    })
    void eccOffWarnsOnBoardsThatHaveIt(String product, Outcome outcome) {
        GpuSnapshot gpu = Gpus.gpu(0, product, frame -> {
            Gpus.put(frame, GpuMetric.ECC_MODE, 0);
            Gpus.put(frame, GpuMetric.ECC_MODE_PENDING, 0);
        });
        assertThat(judged(gpu).outcome()).isEqualTo(outcome);
        assertThat(judged(gpu).code()).isEqualTo("ecc-off");
    }

    @Test
    void userLimitAllowsEccOff() {
        Limits off = LIMITS.overriddenBy(List.of(new BoardLimits.Row("NVIDIA H100", "ecc_mode", 0, "l.yaml:2")));
        GpuSnapshot gpu = Gpus.gpu(frame -> Gpus.put(frame, GpuMetric.ECC_MODE, 0));
        assertThat(Gpus.finding(new EccCheck(), gpu, GpuHistory.NONE, off).outcome())
                .isEqualTo(Outcome.SKIPPED);
    }

    @ParameterizedTest
    @CsvSource({
        "139999, PASS ecc-sound",
        "140001, WARN ecc-corrected-rate",
    })
    void correctedErrorsHaveARate(long inTenMinutes, String judged) {
        GpuSnapshot gpu = ecc(frame -> Gpus.put(frame, GpuMetric.ECC_VOLATILE_CORRECTED, 1_000_000));
        Finding finding =
                Gpus.finding(new EccCheck(), gpu, Gpus.history(Reading.of(inTenMinutes), Reading.of(0.0)), LIMITS);
        assertThat(finding.outcome() + " " + finding.code()).isEqualTo(judged);
    }

    @Test
    void missingHistoryDoesNotChangeTheOutcome() {
        GpuSnapshot gpu = ecc(frame -> Gpus.put(frame, GpuMetric.ECC_VOLATILE_CORRECTED, 10));
        for (Absence hole : List.of(Absence.PENDING, Absence.IMPLAUSIBLE, Absence.STALE)) {
            GpuHistory none = Gpus.history(Reading.absent(hole, 0, "hole"), Reading.absent(hole));
            assertThat(Gpus.finding(new EccCheck(), gpu, none, LIMITS).outcome())
                    .isEqualTo(Outcome.PASS);
        }
    }

    @Test
    void faultsAreReportedWithoutLimits() {
        GpuSnapshot gpu = ecc(frame -> Gpus.put(frame, GpuMetric.ECC_VOLATILE_UNCORRECTED, 20_000));
        assertThat(Gpus.finding(new EccCheck(), gpu, GpuHistory.NONE, Limits.NONE)
                        .code())
                .isEqualTo("ecc-uncorrected");
    }

    @Test
    void failedRemapOutranksPendingRemap() {
        GpuSnapshot gpu = Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.REMAPPED_ROWS_FAILURE, 1);
            Gpus.put(frame, GpuMetric.REMAPPED_ROWS_PENDING, 1);
            Gpus.put(frame, GpuMetric.REMAP_BANKS_NONE, 2);
        });
        Finding finding = Gpus.finding(new RemappedRowsCheck(), gpu, GpuHistory.NONE, LIMITS);
        assertThat(finding.code()).isEqualTo("row-remap-failure");
        assertThat(finding.action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
        assertThat(finding.message()).contains("one waits for the next reset", "2 have none left");
    }

    @Test
    void oneOfTwoReadingsIsNotEnoughToPass() {
        GpuSnapshot gpu = Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.REMAPPED_ROWS_FAILURE, 0);
            Gpus.absent(frame, Absence.FAILED, GpuMetric.REMAPPED_ROWS_PENDING);
        });
        assertThat(Gpus.finding(new RemappedRowsCheck(), gpu, GpuHistory.NONE, LIMITS)
                        .outcome())
                .isEqualTo(Outcome.UNKNOWN);
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, PASS pages-sound",
        "0, 15, PASS pages-sound",
        "40, 16, WARN retired-pages-double-bit",
        "50, 10, WARN retired-pages-many",
        "60, 3, FAIL retired-pages-limit",
        "0, 64, FAIL retired-pages-limit",
    })
    void retiredPagesCountAgainstTheExchangeCriteria(long single, long twice, String judged) {
        GpuSnapshot gpu = Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.RETIRED_PAGES_PENDING, 0);
            Gpus.put(frame, GpuMetric.RETIRED_PAGES_SINGLE_BIT, single);
            Gpus.put(frame, GpuMetric.RETIRED_PAGES_DOUBLE_BIT, twice);
        });
        Finding finding = Gpus.finding(new RetiredPagesCheck(), gpu, GpuHistory.NONE, LIMITS);
        assertThat(finding.outcome() + " " + finding.code()).isEqualTo(judged);
    }
}
