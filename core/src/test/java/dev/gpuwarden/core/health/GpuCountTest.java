package dev.gpuwarden.core.health;

import static dev.gpuwarden.core.health.Snapshots.bus;
import static dev.gpuwarden.core.health.Snapshots.gpu;
import static dev.gpuwarden.core.health.Snapshots.healthy;
import static dev.gpuwarden.core.health.Snapshots.running;
import static dev.gpuwarden.core.health.Snapshots.unreadableBus;
import static dev.gpuwarden.core.health.Snapshots.without;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import dev.gpuwarden.core.port.Opening.Reason;
import dev.gpuwarden.core.telemetry.GpuState;
import java.util.List;
import org.junit.jupiter.api.Test;

class GpuCountTest {

    @Test
    void everyGpuThatTheDriverListsPasses() {
        List<Finding> findings = GpuCount.judge(running(2, healthy(0), healthy(1)));
        assertThat(findings).extracting(Finding::outcome).containsExactly(Outcome.PASS, Outcome.PASS);
        assertThat(findings)
                .extracting(finding -> finding.subject().label())
                .containsExactly("GPU 0 (0000:10:00.0)", "GPU 1 (0000:11:00.0)");
    }

    @Test
    void noFindingsWithoutADriver() {
        assertThat(GpuCount.judge(without(Reason.DRIVER_NOT_LOADED, 9, bus(8)))).isEmpty();
    }

    @Test
    void aDriverWithoutGpusOnABusWithoutGpusIsUndecided() {
        List<Finding> findings = GpuCount.judge(running(0));
        assertThat(findings).extracting(Finding::code).containsExactly("no-gpu");
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.UNDECIDED);
    }

    @Test
    void namesEachGpuOnTheBusThatTheDriverDoesNotList() {
        List<Finding> findings = GpuCount.judge(running(3, healthy(0)));
        assertThat(findings.stream().filter(f -> f.code().equals("gpu-missing")))
                .extracting(finding -> finding.subject().label())
                .containsExactly("0000:11:00.0", "0000:12:00.0");
        assertThat(findings.get(0).message())
                .isEqualTo("the PCI bus shows 3 NVIDIA GPUs, the driver lists 1: 0000:11:00.0 is not among them");
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.NOT_FIT);
    }

    @Test
    void gpuWithoutAddressIsNotReportedMissingToo() {
        NodeSnapshot node = running(2, healthy(0), gpu(Snapshots.anonymous(1), GpuState.LOST, frame -> {}));
        assertThat(GpuCount.judge(node)).extracting(Finding::code).containsExactly("gpu-listed", "gpu-listed");
        assertThat(GpuCount.judge(node).get(1).subject().entities()).containsExactly(Entity.gpuIndex(1));
    }

    @Test
    void gpuWithoutAHandleDoesNotPass() {
        NodeSnapshot node = running(2, healthy(0), gpu(1, GpuState.UNREADABLE, frame -> {}));
        assertThat(GpuCount.judge(node)).extracting(Finding::outcome).containsExactly(Outcome.PASS, Outcome.SKIPPED);
        NodeSnapshot unnamed = running(2, healthy(0), gpu(Snapshots.anonymous(1), GpuState.ANSWERING, frame -> {}));
        assertThat(GpuCount.judge(unnamed)).extracting(Finding::code).containsExactly("gpu-listed", "gpu-unnamed");
    }

    @Test
    void aGpuThatTheDriverDroppedIsNeitherListedNorMissing() {
        NodeSnapshot node = running(2, healthy(0), gpu(1, GpuState.GONE, frame -> {}));
        assertThat(GpuCount.judge(node)).extracting(Finding::code).containsExactly("gpu-listed");
    }

    @Test
    void moreGpusThanOnTheBusAreNoFault() {
        // WSL and some virtual machines show no NVIDIA device on the bus.
        assertThat(Verdict.of(GpuCount.judge(running(0, healthy(0))))).isEqualTo(Verdict.FIT);
    }

    @Test
    void aBusThatCannotBeReadIsNotAFault() {
        NodeSnapshot node =
                new NodeSnapshot(new DriverState.Running(Snapshots.INFO), unreadableBus(), List.of(healthy(0)));
        List<Finding> findings = GpuCount.judge(node);
        assertThat(findings).extracting(Finding::code).containsExactly("pci-unreadable");
        assertThat(Verdict.of(findings)).isEqualTo(Verdict.UNDECIDED);
    }
}
