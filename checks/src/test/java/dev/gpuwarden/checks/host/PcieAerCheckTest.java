package dev.gpuwarden.checks.host;

import static dev.gpuwarden.checks.host.HostTree.about;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Subject;
import dev.gpuwarden.core.model.PciAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PcieAerCheckTest {

    private static final String GPU = "0000:3b:00.0";
    private static final String PORT = "0000:3b:1f.0";

    @TempDir
    Path folder;

    private HostTree tree;
    private String gpu;
    private final PcieAerCheck check = new PcieAerCheck();

    @BeforeEach
    void node() {
        tree = new HostTree(folder);
        gpu = tree.pci(GPU, "0x10de", "0x2330", "0x030200");
        tree.nic("mlx5_0", "0000:10:00.0", "InfiniBand", "400 Gb/sec (4X NDR)");
        tree.pci("0000:20:00.0", "0x10de", "0x22a3", "0x068000");
        tree.pci("0000:30:00.0", "0x144d", "0xa80a", "0x010802");
    }

    private void fatal(long count) {
        tree.write(gpu + "/aer_dev_fatal", "Undefined 0\nDLP " + count + "\nSDES 0\nTOTAL_ERR_FATAL " + count + "\n");
    }

    private static Outcome outcome(List<Finding> findings, String label) {
        return about(findings, label).orElseThrow().outcome();
    }

    @Test
    void onlyGpusSwitchesAdaptersAndTheirPortsAreWatched() {
        assertThat(tree.run(check))
                .allSatisfy(f -> assertThat(f.outcome()).isEqualTo(Outcome.PASS))
                .extracting(Finding::subject)
                .containsExactlyInAnyOrder(
                        new Subject(
                                GPU, List.of(Entity.pci(PciAddress.parse(GPU).orElseThrow()))),
                        Subject.of(new Entity("PCIE_PORT", PORT)),
                        Subject.of(new Entity("NIC", "mlx5_0")),
                        Subject.of(new Entity("PCIE_PORT", "0000:10:1f.0")),
                        Subject.of(new Entity("NVSWITCH", "0000:20:00.0")),
                        Subject.of(new Entity("PCIE_PORT", "0000:20:1f.0")));
    }

    @Test
    void fatalErrorIsAFaultForAnHour() {
        tree.run(check);
        fatal(1);
        Finding finding = about(tree.run(check), GPU).orElseThrow();
        assertThat(finding.outcome()).isEqualTo(Outcome.FAIL);
        assertThat(finding.action()).isEqualTo(RecommendedAction.RESTART_BM);
        assertThat(finding.message())
                .isEqualTo("GPU " + GPU + " reported a fatal PCIe error within the last hour: DLP 1 since the start");
        assertThat(outcome(tree.run(check, 58), GPU)).isEqualTo(Outcome.FAIL);
        assertThat(outcome(tree.run(check, 2), GPU)).isEqualTo(Outcome.PASS);
    }

    @Test
    void earlierFatalErrorsNeitherFailNorPass() {
        fatal(2);
        assertThat(outcome(tree.run(check), GPU)).isEqualTo(Outcome.SKIPPED);
        assertThat(outcome(tree.run(check, 59), GPU)).isEqualTo(Outcome.SKIPPED);
        assertThat(outcome(tree.run(check), GPU)).isEqualTo(Outcome.PASS);
    }

    @Test
    void nonFatalErrorWarns() {
        tree.run(check);
        tree.write(
                "sys/devices/pci0000:3b/" + PORT + "/aer_dev_nonfatal",
                "Undefined 0\nCmpltTO 3\nTOTAL_ERR_NONFATAL 3\n");
        List<Finding> findings = tree.run(check);
        assertThat(about(findings, PORT).orElseThrow().message())
                .isEqualTo("the PCIe port " + PORT
                        + " reported a non-fatal PCIe error within the last hour: CmpltTO 3 since the start");
        assertThat(outcome(findings, PORT)).isEqualTo(Outcome.WARN);
        assertThat(outcome(findings, GPU)).isEqualTo(Outcome.PASS);
    }

    @Test
    void correctableErrorRateIsEvaluated() {
        tree.run(check, 16);
        tree.write(gpu + "/aer_dev_correctable", "RxErr 900\nTOTAL_ERR_COR 900\n");
        assertThat(outcome(tree.run(check), GPU)).isEqualTo(Outcome.PASS);
        tree.write(gpu + "/aer_dev_correctable", "RxErr 901\nTOTAL_ERR_COR 901\n");
        Finding finding = about(tree.run(check), GPU).orElseThrow();
        assertThat(finding.outcome()).isEqualTo(Outcome.WARN);
        assertThat(finding.message())
                .contains(
                        "RxErr 901 since the start",
                        "60.1 correctable PCIe errors a minute, expected at most 60 (limits.tsv:");
    }

    @Test
    void resetCountersAreNoErrors() {
        fatal(5);
        tree.run(check, 61);
        fatal(0);
        assertThat(outcome(tree.run(check), GPU)).isEqualTo(Outcome.PASS);
    }

    @Test
    void machineWithoutErrorCountersHasNoFinding() throws Exception {
        for (String address : List.of(GPU, PORT, "0000:10:00.0", "0000:20:00.0")) {
            Files.delete(folder.resolve("sys/bus/pci/devices/" + address + "/aer_dev_fatal"));
        }
        assertThat(tree.run(check)).isEmpty();
    }
}
