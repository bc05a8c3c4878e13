package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Results of all GPU checks on simulated nodes, read by the real driver adapter. */
class ScenarioChecksTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a100-mig",
                "a100x8",
                "b200x8",
                "busy500",
                "cgroup-zoo",
                "demo",
                "driver-470",
                "driver-535.161",
                "driver-535.54",
                "h100x8",
                "h200x8",
                "l4x4",
                "memory-hog",
                "t4"
            })
    void healthyNodesHaveNoComplaints(String scenario) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            assertThat(GpuChecks.complaints(CheckContexts.context(node, BoardLimits.shipped())))
                    .isEmpty();
        }
    }

    @Test
    void heatIsReportedWhileItLasts() {
        try (SimulatedNode node = SimulatedNode.start("thermal")) {
            assertThat(at(node, 4)).isEmpty();
            assertThat(at(node, 6))
                    .containsExactly("gpu-clocks sw-thermal-slowdown WARN", "gpu-temperature temperature-high WARN");
            assertThat(at(node, 10))
                    .containsExactly("gpu-clocks hw-thermal-slowdown WARN", "gpu-temperature temperature-high WARN");
            assertThat(at(node, 41)).isEmpty();
        }
    }

    private static List<String> at(SimulatedNode node, int second) {
        node.advanceTo(Duration.ofSeconds(second));
        return GpuChecks.complaints(CheckContexts.context(node, BoardLimits.shipped()));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            fallen           | gpu-count gpu-missing FAIL
            gpu-hang         | gpu-state gpu-hung FAIL
            gpu-lost         | gpu-state gpu-lost FAIL
            no-driver        | driver driver-not-loaded FAIL
            version-mismatch | driver driver-mismatch FAIL
            empty            | gpu-count no-gpu UNKNOWN
            recovery-action  | gpu-recovery-action recovery-action FAIL, gpu-remapped-rows row-remap-failure FAIL, gpu-state reset-required FAIL
            reboot           | gpu-state gpu-lost FAIL
            xid79            | gpu-state gpu-lost FAIL
            gpu-reset        | gpu-state reset-required FAIL
            fabric-down      | gpu-fabric fabric-failed FAIL, gpu-nvlink nvlink-down-everywhere WARN
            nvlink5-b200     | gpu-nvlink nvlink-down FAIL
            pcie-degraded    | gpu-pcie-link pcie-width-reduced WARN
            power-brake      | gpu-power-brake power-brake WARN
            row-remap-failure | gpu-ecc ecc-uncorrected WARN, gpu-remapped-rows row-remap-failure FAIL
            row-remap-pending | gpu-ecc ecc-uncorrected WARN, gpu-remapped-rows row-remap-pending FAIL
            liar             | gpu-ecc not-readable UNKNOWN, gpu-ghosts not-readable UNKNOWN, gpu-nvlink not-readable UNKNOWN, gpu-pcie-replays not-readable UNKNOWN, gpu-readings implausible-values WARN, gpu-remapped-rows not-readable UNKNOWN, gpu-temperature not-readable UNKNOWN
            """)
    void eachFaultIsReportedOnce(String scenario, String complaints) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            assertThat(String.join(", ", GpuChecks.complaints(CheckContexts.context(node, BoardLimits.shipped()))))
                    .isEqualTo(complaints);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            h100x8 | gpu.3.sram.threshold-exceeded=yes        | gpu-ecc sram-threshold-exceeded FAIL
            h100x8 | gpu.3.ecc.volatile.uncorrected=2         | gpu-ecc ecc-uncorrected WARN
            h100x8 | gpu.3.ecc.volatile.uncorrected=10001     | gpu-ecc ecc-uncorrected-many FAIL
            h100x8 | gpu.3.ecc.volatile.corrected=60000000    | gpu-ecc ecc-corrected-many WARN
            h100x8 | gpu.3.ecc.mode=off                       | gpu-ecc ecc-mode-pending WARN
            h100x8 | gpu.3.ecc.mode=off gpu.3.ecc.pending=off | gpu-ecc ecc-off WARN
            h100x8 | gpu.3.ecc.pending=off                    | gpu-ecc ecc-mode-pending WARN
            t4     | gpu.0.retired-pages.pending=yes          | gpu-retired-pages page-retirement-pending FAIL
            t4     | gpu.0.retired-pages.double-bit=16        | gpu-retired-pages retired-pages-double-bit WARN
            t4     | gpu.0.retired-pages.single-bit=60        | gpu-retired-pages retired-pages-many WARN
            t4     | gpu.0.retired-pages.single-bit=63        | gpu-retired-pages retired-pages-limit FAIL
            h100x8 | gpu.3.remapped-rows.pending=yes          | gpu-remapped-rows row-remap-pending FAIL
            h100x8 | gpu.3.remapped-rows.failure=yes          | gpu-remapped-rows row-remap-failure FAIL
            h100x8 | gpu.3.remapped-rows.failure=yes gpu.3.remapped-rows.pending=yes | gpu-remapped-rows row-remap-failure FAIL
            h100x8 | gpu.3.remap-banks.none=1                 | gpu-remapped-rows row-remap-bank-exhausted WARN
            h100x8 | gpu.3.remapped-rows.correctable=500      |
            h100x8 | gpu.3.temperature=86C                    |
            h100x8 | gpu.3.temperature=87C                    | gpu-temperature temperature-high WARN
            b200x8 | gpu.3.temperature=90C                    | gpu-temperature temperature-high WARN
            b200x8 | gpu.3.temperatures.margin=-5C            |
            a100x8 | gpu.3.temperature=85C                    |
            a100x8 | gpu.3.temperature=86C                    | gpu-temperature temperature-high WARN
            a100x8 | gpu.3.memory-temperature=96C             | gpu-temperature memory-temperature-high WARN
            h100x8 | gpu.3.clock.reasons=hw-thermal           | gpu-clocks hw-thermal-slowdown WARN
            h100x8 | gpu.3.clock.reasons=sw-power-cap         |
            h100x8 | gpu.3.clock.reasons=0x88                 | gpu-power-brake power-brake WARN
            h100x8 | gpu.3.clock.reasons=0x8                  | gpu-clocks hw-slowdown WARN
            h100x8 | gpu.0.pcie.generation=3                  | gpu-pcie-link pcie-link-crippled FAIL
            h100x8 | gpu.0.pcie.generation=4                  | gpu-pcie-link pcie-generation-reduced WARN
            h100x8 | gpu.7.pcie.generation=1                  |
            h100x8 | gpu.7.pcie.width=8                       | gpu-pcie-link pcie-width-reduced WARN
            h100x8 | gpu.7.pcie.width=4                       | gpu-pcie-link pcie-link-crippled FAIL
            l4x4   | gpu.2.pcie.width=4                       | gpu-pcie-link pcie-width-reduced WARN
            h100x8 | gpu.3.nvlink.5.state=down                | gpu-nvlink nvlink-down FAIL
            h100x8 | gpu.3.nvlink.state=down                  | gpu-nvlink nvlink-down FAIL
            h100x8 | gpu.all.nvlink.state=down                | gpu-nvlink nvlink-down-everywhere WARN
            h100x8 | gpu.3.fabric.state=in-progress           | gpu-fabric fabric-registering UNKNOWN
            h100x8 | gpu.3.fabric.status=unknown              | gpu-fabric fabric-failed FAIL
            h100x8 | gpu.3.fabric.health-mask=0x19a           | gpu-fabric fabric-unhealthy FAIL
            b200x8 | gpu.3.fabric.health-summary=unhealthy    | gpu-fabric fabric-unhealthy FAIL
            b200x8 | gpu.3.fabric.health-summary=limited      | gpu-fabric fabric-limited WARN
            h100x8 | gpu.3.persistence=off                    | gpu-persistence-mode persistence-mode-off WARN
            a100x8 | gpu.3.mig.pending=on                     | gpu-mig-mode mig-mode-pending WARN
            l4x4   | gpu.2.virtualization=vgpu-guest gpu.2.vgpu.licensable=1 | vgpu-license vgpu-unlicensed WARN
            l4x4   | gpu.2.virtualization=vgpu-guest gpu.2.vgpu.licensable=2 gpu.2.vgpu.licensed=1 |
            l4x4   | gpu.2.virtualization=pass-through gpu.2.vgpu.licensable=1 |
            h100x8 | gpu.3.state=lost                         | gpu-state gpu-lost FAIL
            h100x8 | gpu.3.state=reset-required               | gpu-state reset-required FAIL
            """)
    void faultIsReportedByItsCheckAlone(String scenario, String changes, String complaint) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Stream.of(changes.trim().split(" +"))
                    .map(change -> change.split("="))
                    .forEach(change -> node.set(change[0], change[1]));
            assertThat(GpuChecks.complaints(CheckContexts.context(node, BoardLimits.shipped())))
                    .isEqualTo(complaint == null ? List.of() : List.of(complaint));
        }
    }
}
