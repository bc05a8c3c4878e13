package dev.gpuwarden.core.health;

import static dev.gpuwarden.core.health.Snapshots.bus;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static dev.gpuwarden.core.health.Snapshots.running;
import static dev.gpuwarden.core.health.Snapshots.unreadableBus;
import static dev.gpuwarden.core.health.Snapshots.without;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening.Reason;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class DriverHealthTest {

    private static List<Finding> judged(NodeSnapshot node) {
        return List.of(DriverHealth.judge(node, Optional.empty(), false));
    }

    @Test
    void driverThatListsItsGpusPasses() {
        assertThat(judged(running(2, healthy(0), healthy(1))))
                .extracting(Finding::outcome)
                .containsExactly(Outcome.PASS);
        assertThat(judged(running(0))).extracting(Finding::outcome).containsExactly(Outcome.PASS);
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
    void missingDriverFailsOnlyWithAGpu(
            Reason reason, int code, Reading<List<PciAddress>> bus, String expected, Verdict verdict) {
        List<Finding> findings = judged(without(reason, code, bus));
        assertThat(findings).extracting(Finding::code).containsExactly(expected);
        assertThat(Verdict.of(findings)).isEqualTo(verdict);
        if (code != 0) {
            assertThat(findings.get(0).message()).contains("code " + code);
        }
    }

    @ParameterizedTest
    @EnumSource(Reason.class)
    void aDriverThatMayStillComeIsUnknown(Reason reason) {
        Finding finding = DriverHealth.judge(without(reason, 9, bus(8)), Optional.of("the node is young"), false);
        assertThat(finding.outcome()).isEqualTo(Outcome.UNKNOWN);
        if (reason != Reason.NO_PERMISSION) {
            assertThat(finding.message()).endsWith("; the node is young");
        }
        NodeSnapshot silent = new NodeSnapshot(new DriverState.Silent(Snapshots.INFO, "code 999"), bus(8), List.of());
        assertThat(DriverHealth.judge(silent, Optional.of("the node is young"), false)
                        .outcome())
                .isEqualTo(Outcome.UNKNOWN);
    }

    @Test
    void aMismatchWithTheContainersOwnLibraryRequestsNoReboot() {
        Finding finding = DriverHealth.judge(without(Reason.VERSION_MISMATCH, 18, bus(8)), Optional.empty(), true);
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.action()).isEqualTo(RecommendedAction.NONE);
        assertThat(finding.remedy()).startsWith("restart gpuwarden's pod");
    }

    @Test
    void libraryWithoutDriverIsNamedInTheMessage() {
        assertThat(judged(without(Reason.DRIVER_NOT_LOADED, 9, bus(0))).get(0).message())
                .isEqualTo("no NVIDIA GPU: the driver library is there, the kernel driver is not loaded (code 9);"
                        + " the PCI bus shows no NVIDIA GPU");
    }

    @Test
    void openingDriverIsNoFault() {
        NodeSnapshot node = new NodeSnapshot(new DriverState.Opening(), bus(8), List.of());
        assertThat(judged(node)).extracting(Finding::code).containsExactly("driver-opening");
        assertThat(Verdict.of(judged(node))).isEqualTo(Verdict.UNDECIDED);
    }

    @ParameterizedTest
    @CsvSource({"0,UNDECIDED", "1,NOT_FIT", "8,NOT_FIT"})
    void silentDriverFailsUnlessThereIsNoGpu(int onBus, Verdict verdict) {
        NodeSnapshot node = new NodeSnapshot(new DriverState.Silent(Snapshots.INFO, "code 999"), bus(onBus), List.of());
        assertThat(judged(node)).extracting(Finding::code).containsExactly("driver-not-answering");
        assertThat(Verdict.of(judged(node))).isEqualTo(verdict);
    }
}
