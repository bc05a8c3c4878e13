package dev.gpuwarden.core.health;

import static dev.gpuwarden.core.health.Snapshots.gpu;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static dev.gpuwarden.core.health.Snapshots.running;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.GpuAnswers.Earlier;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.node.GpuPlaces;
import dev.gpuwarden.core.node.KnownGpus;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GpuAnswersTest {

    @ParameterizedTest
    @EnumSource(GpuState.class)
    void everyStateHasItsFinding(GpuState state) {
        Finding finding =
                GpuAnswers.judge(running(1, gpu(0, state, frame -> {}))).get(0);
        switch (state) {
            case ANSWERING -> assertThat(finding.outcome()).isEqualTo(Outcome.PASS);
            case STARTING, UNREADABLE -> assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
            case RELEASED -> assertThat(finding.outcome()).isEqualTo(Outcome.SKIPPED);
            case HUNG, LOST, RESET_REQUIRED, GONE -> {
                assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
                assertThat(finding.subject().label()).isEqualTo("GPU 0 (0000:10:00.0)");
                assertThat(finding.remedy()).isNotEmpty();
            }
        }
    }

    private static GpuSnapshot silent(GpuState state, Absence cause) {
        return gpu(0, state, frame -> {
            for (int i = 0; i < GpuMetric.count(); i++) {
                frame.putAbsent(i, cause, cause == Absence.FAILED ? 999 : 0);
            }
        });
    }

    @ParameterizedTest
    @EnumSource(Absence.class)
    void withoutAReadingNothingPasses(Absence cause) {
        if (cause != Absence.PRESENT) {
            Finding finding = GpuAnswers.judge(silent(GpuState.ANSWERING, cause), Earlier.NONE, PartNames.NONE);
            boolean answered = Set.of(Absence.NOT_SUPPORTED, Absence.NO_SYMBOL, Absence.NO_DATA, Absence.OFF)
                    .contains(cause);
            assertThat(finding.outcome())
                    .as("that a board has no such reading is an answer")
                    .isEqualTo(answered ? Outcome.PASS : Outcome.UNKNOWN);
        }
    }

    @Test
    void gpuOfWhichEveryCallFailsIsAFaultIfThatLasts() {
        GpuSnapshot unreadable = silent(GpuState.UNREADABLE, Absence.FAILED);
        assertThat(GpuAnswers.judge(unreadable, Earlier.NONE, PartNames.NONE).outcome())
                .isEqualTo(Outcome.UNKNOWN);
        Finding lasting = GpuAnswers.judge(unreadable, new Earlier(GpuState.STARTING, true), PartNames.NONE);
        assertThat(lasting.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(lasting.code()).isEqualTo("gpu-unreadable");
        assertThat(lasting.action()).isEqualTo(RecommendedAction.RESTART_BM);
    }

    @Test
    void lostOrHungGpuThatReturnsErrorsStaysLostOrHung() {
        GpuSnapshot unreadable = silent(GpuState.UNREADABLE, Absence.FAILED);
        assertThat(GpuAnswers.judge(unreadable, new Earlier(GpuState.LOST, false), PartNames.NONE)
                        .code())
                .isEqualTo("gpu-lost");
        assertThat(GpuAnswers.judge(unreadable, new Earlier(GpuState.HUNG, true), PartNames.NONE)
                        .code())
                .isEqualTo("gpu-hung");
    }

    @Test
    void lostGpuWithoutAddressIsLocatedWhereCertain() {
        NodeSnapshot node = GpuPlaces.located(
                running(2, healthy(0), gpu(Snapshots.anonymous(1), GpuState.LOST, frame -> {})), KnownGpus.NONE);
        Finding lost = GpuAnswers.judge(node).get(1);
        assertThat(lost.code()).isEqualTo("gpu-lost");
        assertThat(lost.message()).startsWith("GPU 1 (" + Snapshots.pci(1) + "): expected answers");
        assertThat(lost.subject().entities()).containsExactly(Entity.pci(Snapshots.pci(1)));
    }

    @Test
    void lostGpuWithUncertainPlaceHasItsIndex() {
        NodeSnapshot node = GpuPlaces.located(
                running(
                        3,
                        healthy(0),
                        gpu(Snapshots.anonymous(1), GpuState.LOST, frame -> {}),
                        gpu(Snapshots.anonymous(2), GpuState.LOST, frame -> {})),
                KnownGpus.NONE);
        assertThat(GpuAnswers.judge(node))
                .extracting(finding -> finding.subject().entities())
                .containsExactly(
                        List.of(Entity.pci(Snapshots.pci(0)), Entity.gpu(Snapshots.uuid(0))),
                        List.of(Entity.gpuIndex(1)),
                        List.of(Entity.gpuIndex(2)));
    }
}
