package dev.gpuwarden.checks.host;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NicErrorsCheckTest {

    /** The number of runs that cover the window, including the first. */
    private static final int COVERED = 16;

    @TempDir
    Path folder;

    private HostTree tree;
    private Path port;
    private final NicErrorsCheck check = new NicErrorsCheck();

    @BeforeEach
    void node() {
        tree = new HostTree(folder);
        port = tree.nic("mlx5_0", "0000:10:00.0", "InfiniBand", "400 Gb/sec (4X NDR)");
    }

    @Test
    void zeroCountersPassImmediately() {
        assertThat(tree.run(check)).singleElement().extracting(Finding::outcome).isEqualTo(Outcome.PASS);
    }

    @Test
    void nonZeroCountersDoNotPassBeforeTheWindowIsCovered() {
        HostTree.write(port.resolve("counters/symbol_error"), "1000\n");
        assertThat(tree.run(check, COVERED - 1))
                .singleElement()
                .extracting(Finding::outcome)
                .isEqualTo(Outcome.SKIPPED);
        assertThat(tree.run(check)).singleElement().extracting(Finding::outcome).isEqualTo(Outcome.PASS);
    }

    @ParameterizedTest
    @CsvSource({
        "counters/symbol_error, 30, 31",
        "counters/link_error_recovery, 75, 76",
        "counters/local_link_integrity_errors, 0, 1",
        "counters/excessive_buffer_overrun_errors, 0, 1",
        "counters/port_rcv_errors, 9000, 9001",
        "counters/port_xmit_discards, 90000, 90001",
        "hw_counters/out_of_sequence, 90000, 90001"
    })
    void rateAboveTheLimitWarns(String counter, long fine, long tooMany) {
        HostTree.write(port.resolve(counter), "1000\n");
        tree.run(check, COVERED);
        HostTree.write(port.resolve(counter), 1000 + fine + "\n");
        assertThat(tree.run(check)).singleElement().extracting(Finding::outcome).isEqualTo(Outcome.PASS);
        HostTree.write(port.resolve(counter), 1000 + tooMany + "\n");
        List<Finding> findings = tree.run(check);
        assertThat(findings).singleElement().extracting(Finding::outcome).isEqualTo(Outcome.WARN);
        assertThat(findings.get(0).message())
                .contains("mlx5_0: " + counter.substring(counter.indexOf('/') + 1))
                .contains(" a minute, expected at most ");
        assertThat(findings.get(0).evidence()).hasSize(1);
    }

    @Test
    void excessForTheWholeWindowIsReportedEarly() {
        HostTree.write(port.resolve("counters/symbol_error"), "1000\n");
        tree.run(check);
        HostTree.write(port.resolve("counters/symbol_error"), "1030\n");
        assertThat(tree.run(check)).singleElement().extracting(Finding::outcome).isEqualTo(Outcome.SKIPPED);
        HostTree.write(port.resolve("counters/symbol_error"), "1031\n");
        assertThat(tree.run(check)).singleElement().extracting(Finding::outcome).isEqualTo(Outcome.WARN);
        HostTree.write(port.resolve("counters/symbol_error"), "5\n");
        assertThat(tree.run(check)).singleElement().extracting(Finding::outcome).isEqualTo(Outcome.SKIPPED);
    }

    @Test
    void oldErrorsDoNotCountTowardsTheRate() {
        HostTree.write(port.resolve("counters/symbol_error"), "65535\n");
        assertThat(tree.run(check, COVERED))
                .singleElement()
                .extracting(Finding::outcome)
                .isEqualTo(Outcome.PASS);
    }

    @Test
    void portWithoutCountersIsIgnored() throws Exception {
        tree.delete("sys/devices/pci0000:10/0000:10:1f.0/0000:10:00.0/infiniband/mlx5_0/ports/1/counters");
        Files.delete(port.resolve("hw_counters/out_of_sequence"));
        assertThat(tree.run(check, COVERED)).isEmpty();
    }

    @Test
    void absentHardwareHasNoFinding() {
        tree.delete("sys/class/infiniband");
        assertThat(tree.run(check)).isEmpty();
    }
}
