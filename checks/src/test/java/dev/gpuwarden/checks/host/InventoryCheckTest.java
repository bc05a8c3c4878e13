package dev.gpuwarden.checks.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.core.check.Expectations;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InventoryCheckTest {

    private static SimulatedNode simulated;
    private static NodeSnapshot eight;

    @BeforeAll
    static void run() {
        simulated = SimulatedNode.start("h100x8");
        eight = CheckContexts.snapshot(simulated);
    }

    @AfterAll
    static void close() {
        simulated.close();
    }

    private static Expectations pins(Integer gpus, String driver, String product, String vbios, String board) {
        return new Expectations(
                gpus == null ? OptionalInt.empty() : OptionalInt.of(gpus),
                list(driver),
                list(product),
                list(vbios),
                list(board),
                OptionalInt.empty(),
                OptionalInt.empty(),
                Set.of());
    }

    private static List<String> list(String text) {
        return text == null ? List.of() : List.of(text.split(","));
    }

    private static String driverVersion() {
        return ((DriverState.Running) eight.driver())
                .info()
                .driverVersion()
                .asOptional()
                .orElseThrow();
    }

    private static NodeSnapshot without(DriverState state, List<PciAddress> bus, List<GpuSnapshot> gpus) {
        return new NodeSnapshot(state, Reading.of(bus), gpus);
    }

    @Test
    void noExpectationIsSkipped() {
        assertThat(InventoryCheck.evaluate(Expectations.NONE, eight))
                .singleElement()
                .extracting(Finding::outcome)
                .isEqualTo(Outcome.SKIPPED);
    }

    @Test
    void matchingExpectationsPass() {
        GpuSnapshot first = eight.gpus().get(0);
        List<Finding> findings = InventoryCheck.evaluate(
                pins(
                        8,
                        "470," + driverVersion(),
                        "h100",
                        first.identity().vbios().asOptional().orElseThrow().substring(0, 5),
                        first.identity().boardPart().asOptional().orElseThrow()),
                eight);
        assertThat(findings).hasSize(10).allSatisfy(f -> assertThat(f.outcome()).isEqualTo(Outcome.PASS));
    }

    @Test
    void tooFewGpusAreAFaultThatNamesTheMissingOne() {
        List<Finding> findings = InventoryCheck.evaluate(
                pins(8, null, null, null, null),
                without(
                        eight.driver(),
                        eight.pciGpus().asOptional().orElseThrow(),
                        eight.gpus().subList(0, 7)));
        Finding finding = findings.get(0);
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.action()).isEqualTo(RecommendedAction.RESTART_BM);
        assertThat(finding.message())
                .isEqualTo("expected 8 GPUs, the driver lists 7; not listed: "
                        + eight.gpus().get(7).identity().pci().asOptional().orElseThrow());
    }

    @Test
    void moreGpusThanExpectedWarnOfAnOldSetting() {
        assertThat(InventoryCheck.evaluate(pins(4, null, null, null, null), eight))
                .singleElement()
                .extracting(Finding::outcome)
                .isEqualTo(Outcome.WARN);
    }

    @Test
    void busIsCountedWithoutADriver() {
        DriverState none = new DriverState.Unavailable(Reason.DRIVER_NOT_LOADED, 9, "");
        List<PciAddress> bus = eight.pciGpus().asOptional().orElseThrow();
        assertThat(InventoryCheck.evaluate(pins(8, null, null, null, null), without(none, List.of(), List.of())))
                .singleElement()
                .extracting(Finding::message)
                .isEqualTo("expected 8 GPUs, the PCI bus shows 0");
        assertThat(InventoryCheck.evaluate(pins(8, "550", null, null, null), without(none, bus, List.of())))
                .extracting(Finding::outcome)
                .containsExactly(Outcome.UNKNOWN, Outcome.UNKNOWN);
    }

    @Test
    void otherProductOrFirmwareWarnsForEachGpu() {
        List<Finding> findings = InventoryCheck.evaluate(pins(null, null, "H200", "00.00", null), eight);
        assertThat(findings).hasSize(8).allSatisfy(f -> assertThat(f.outcome()).isEqualTo(Outcome.WARN));
        assertThat(findings.get(0).message())
                .startsWith(eight.gpus().get(0).identity().label() + ": expected product H200, found NVIDIA H100")
                .contains("; expected VBIOS 00.00, found ");
    }

    @ParameterizedTest
    @CsvSource({
        "550.163.01, 550.163.01, true",
        "550.163.01, 550.163, true",
        "550.163.01, 550, true",
        "550.163.01, 550., true",
        "550.163.01, 550.16, false",
        "550.163.01, 535, false",
        "550.163.01, 550.163.01.1, false"
    })
    void driverVersionMatchesByWholeNumbers(String version, String pin, boolean holds) {
        assertThat(InventoryCheck.isOf(version, pin)).isEqualTo(holds);
    }

    @Test
    void otherDriverVersionWarns() {
        assertThat(InventoryCheck.evaluate(pins(null, "1.2", null, null, null), eight))
                .singleElement()
                .extracting(Finding::message)
                .isEqualTo("expected driver 1.2, found " + driverVersion());
    }
}
