package dev.gpuwarden.core.health;

import static dev.gpuwarden.core.health.Snapshots.bus;
import static dev.gpuwarden.core.health.Snapshots.find;
import static dev.gpuwarden.core.health.Snapshots.gpu;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static dev.gpuwarden.core.health.Snapshots.running;
import static dev.gpuwarden.core.health.Snapshots.unreadableBus;
import static dev.gpuwarden.core.health.Snapshots.without;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.DriverOpening.Reason;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class NodeAssessmentTest {

    @Test
    void aNodeWhoseGpusAllAnswerIsFit() {
        List<Finding> findings = NodeAssessment.assess(running(2, healthy(0), healthy(1)));
        assertThat(findings).extracting(Finding::outcome).containsExactly(Outcome.PASS, Outcome.PASS);
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.FIT);
    }

    /** The driver's trouble, what the bus shows, and what follows. */
    static Stream<Arguments> withoutDriver() {
        return Stream.of(
                Arguments.of(Reason.LIBRARY_MISSING, 0, bus(0), "no-gpu", Verdict.UNDECIDED),
                Arguments.of(Reason.LIBRARY_MISSING, 0, bus(1), "library-missing", Verdict.NOT_FIT),
                Arguments.of(Reason.LIBRARY_MISSING, 0, unreadableBus(), "library-missing", Verdict.UNDECIDED),
                Arguments.of(Reason.LIBRARY_UNUSABLE, 0, bus(0), "library-unusable", Verdict.UNDECIDED),
                Arguments.of(Reason.LIBRARY_UNUSABLE, 0, bus(8), "library-unusable", Verdict.NOT_FIT),
                Arguments.of(Reason.DRIVER_NOT_LOADED, 9, bus(0), "no-gpu", Verdict.UNDECIDED),
                Arguments.of(Reason.DRIVER_NOT_LOADED, 9, bus(8), "driver-not-loaded", Verdict.NOT_FIT),
                Arguments.of(Reason.DRIVER_NOT_LOADED, 9, unreadableBus(), "driver-not-loaded", Verdict.UNDECIDED),
                Arguments.of(Reason.VERSION_MISMATCH, 18, bus(8), "driver-mismatch", Verdict.NOT_FIT),
                Arguments.of(Reason.VERSION_MISMATCH, 18, unreadableBus(), "driver-mismatch", Verdict.NOT_FIT),
                Arguments.of(Reason.NO_PERMISSION, 4, bus(8), "driver-no-permission", Verdict.UNDECIDED),
                Arguments.of(Reason.FAILED, 999, bus(0), "driver-not-answering", Verdict.UNDECIDED),
                Arguments.of(Reason.FAILED, 999, bus(8), "driver-not-answering", Verdict.NOT_FIT),
                Arguments.of(Reason.FAILED, 999, unreadableBus(), "driver-not-answering", Verdict.UNDECIDED));
    }

    @ParameterizedTest
    @MethodSource("withoutDriver")
    void aMissingDriverIsAFaultOnlyWhereThereIsAGpu(
            Reason reason, int code, Reading<List<PciAddress>> bus, String expected, Verdict verdict) {
        List<Finding> findings = NodeAssessment.assess(without(reason, code, bus));
        assertThat(findings).extracting(Finding::code).containsExactly(expected);
        assertThat(Verdict.of(findings)).isEqualTo(verdict);
        if (code != 0) {
            assertThat(findings.get(0).message()).contains("code " + code);
        }
    }

    @Test
    void libraryWithoutDriverIsSaidInSoManyWords() {
        assertThat(NodeAssessment.assess(without(Reason.DRIVER_NOT_LOADED, 9, bus(0)))
                        .get(0)
                        .message())
                .isEqualTo("no NVIDIA GPU: the driver library is there, the kernel driver is not loaded (code 9);"
                        + " the PCI bus shows no NVIDIA GPU");
    }

    @Test
    void aDriverThatIsBeingOpenedIsNoFault() {
        NodeSnapshot node = new NodeSnapshot(new DriverState.Opening(), bus(8), List.of());
        assertThat(NodeAssessment.assess(node)).extracting(Finding::code).containsExactly("driver-opening");
        assertThat(Verdict.of(NodeAssessment.assess(node))).isEqualTo(Verdict.UNDECIDED);
    }

    @ParameterizedTest
    @CsvSource({"0,UNDECIDED", "1,NOT_FIT", "8,NOT_FIT"})
    void aSilentDriverIsAFaultUnlessThereIsNoGpu(int onBus, Verdict verdict) {
        NodeSnapshot node = new NodeSnapshot(new DriverState.Silent(Snapshots.INFO, "code 999"), bus(onBus), List.of());
        assertThat(NodeAssessment.assess(node)).extracting(Finding::code).containsExactly("driver-not-answering");
        assertThat(Verdict.of(NodeAssessment.assess(node))).isEqualTo(verdict);
    }

    @Test
    void aDriverWithoutGpusOnABusWithoutGpusIsUndecided() {
        List<Finding> findings = NodeAssessment.assess(running(0));
        assertThat(findings).extracting(Finding::code).containsExactly("no-gpu");
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void namesEachGpuOnTheBusThatTheDriverDoesNotList() {
        List<Finding> findings = NodeAssessment.assess(running(3, healthy(0)));
        assertThat(findings.stream().filter(f -> f.code().equals("gpu-missing")))
                .extracting(Finding::subject)
                .containsExactly("0000:11:00.0", "0000:12:00.0");
        assertThat(findings.get(0).message())
                .isEqualTo("the PCI bus shows 3 NVIDIA GPUs, the driver lists 1: 0000:11:00.0 is not among them");
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.NOT_FIT);
    }

    @Test
    void aLostGpuThatDoesNotTellItsAddressIsNotMissingToo() {
        NodeSnapshot node = running(
                2,
                healthy(0),
                gpu(
                        Snapshots.anonymous(1),
                        GpuState.LOST,
                        frame -> frame.putAbsent(GpuFrame.slot(GpuMetric.TEMPERATURE), Absence.GPU_LOST, 15)));
        assertThat(NodeAssessment.assess(node)).extracting(Finding::code).containsExactly("gpu-answering", "gpu-lost");
        assertThat(NodeAssessment.assess(node).get(1).message())
                .contains("it must be " + Snapshots.pci(1) + ", which no other GPU claims");
    }

    @Test
    void aGpuThatTheDriverDroppedIsReportedOnce() {
        NodeSnapshot node = running(2, healthy(0), gpu(1, GpuState.GONE, frame -> {}));
        assertThat(NodeAssessment.assess(node)).extracting(Finding::code).containsExactly("gpu-answering", "gpu-gone");
    }

    @Test
    void moreGpusThanOnTheBusAreNoFault() {
        // WSL and some virtual machines show no NVIDIA device on the bus.
        assertThat(Verdict.of(NodeAssessment.assess(running(0, healthy(0))))).isEqualTo(Verdict.FIT);
    }

    @Test
    void aBusThatCannotBeReadIsNotAFault() {
        NodeSnapshot node =
                new NodeSnapshot(new DriverState.Running(Snapshots.INFO), unreadableBus(), List.of(healthy(0)));
        List<Finding> findings = NodeAssessment.assess(node);
        assertThat(find(findings, "pci-unreadable")).isPresent();
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.UNDECIDED);
    }

    @ParameterizedTest
    @EnumSource(GpuState.class)
    void everyStateHasItsFinding(GpuState state) {
        Finding finding =
                NodeAssessment.assess(running(1, gpu(0, state, frame -> {}))).get(0);
        switch (state) {
            case ANSWERING -> assertThat(finding.outcome()).isEqualTo(Outcome.PASS);
            case STARTING -> assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
            case HUNG, LOST, RESET_REQUIRED, GONE -> {
                assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
                assertThat(finding.subject()).isEqualTo(Snapshots.uuid(0));
                assertThat(finding.remedy()).isNotEmpty();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1,a GPU reset",
        "2,a node reboot",
        "3,draining its peer-to-peer clients",
        "4,draining and a GPU reset",
        "5,recovering the IMEX domain",
        "9,an action that this version does not know"
    })
    void aRecoveryActionIsAFault(int action, String words) {
        NodeSnapshot node = running(
                1, gpu(0, GpuState.ANSWERING, frame -> frame.put(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), action)));
        Finding finding = NodeAssessment.assess(node).get(0);
        assertThat(finding.code()).isEqualTo("recovery-action");
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.message()).endsWith("asks for " + words + " (" + action + ")");
    }

    @ParameterizedTest
    @CsvSource({"NO_SYMBOL,FIT", "NOT_SUPPORTED,FIT", "IMPLAUSIBLE,UNDECIDED"})
    void aMissingRecoveryActionIsJudgedByItsCause(Absence cause, Verdict verdict) {
        NodeSnapshot node = running(
                1,
                gpu(
                        0,
                        GpuState.ANSWERING,
                        frame -> frame.putAbsent(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), cause, 0)));
        assertThat(Verdict.of(NodeAssessment.assess(node))).isEqualTo(verdict);
    }

    @ParameterizedTest
    @CsvSource({"FAILED,999,gpu-unreadable", "STALE,0,gpu-stale", "NO_PERMISSION,4,gpu-unreadable"})
    void aGpuWithoutAnyReadingWasNotLookedAt(Absence cause, int code, String expected) {
        NodeSnapshot node = running(1, gpu(0, GpuState.ANSWERING, frame -> {
            for (int i = 0; i < GpuMetric.count(); i++) {
                frame.putAbsent(i, cause, code);
            }
        }));
        List<Finding> findings = NodeAssessment.assess(node);
        assertThat(findings).extracting(Finding::code).containsExactly(expected);
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void aLyingLibraryIsNamedAndDoesNotDecide() {
        NodeSnapshot node = running(
                1,
                gpu(
                        0,
                        GpuState.ANSWERING,
                        frame -> frame.putAbsent(GpuFrame.slot(GpuMetric.UTILIZATION_GPU), Absence.IMPLAUSIBLE, 0)));
        List<Finding> findings = NodeAssessment.assess(node);
        assertThat(find(findings, "implausible-values").orElseThrow().message()).endsWith("utilization");
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.FIT);
    }

    @Test
    void nothingFoundIsNotFit() {
        assertThat(Verdict.of(List.of())).isEqualTo(Verdict.UNDECIDED);
    }
}
