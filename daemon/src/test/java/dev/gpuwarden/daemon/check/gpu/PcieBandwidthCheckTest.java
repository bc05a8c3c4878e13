package dev.gpuwarden.daemon.check.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.daemon.check.CheckContexts;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Copies on simulated nodes, by the real binding of the CUDA driver. */
class PcieBandwidthCheckTest {

    /** Simulated copies move real bytes, and eight GPUs share this machine's memory: few of them are enough. */
    private static final CopyWork SMALL = new CopyWork(128 << 10, Duration.ofNanos(100_000), Duration.ofSeconds(30));

    private static List<Finding> findings(SimulatedNode node) {
        return new PcieBandwidthCheck(SMALL).run(CheckContexts.computing(node, BoardLimits.shipped()));
    }

    private static String judged(Finding finding) {
        return finding.outcome() + " " + finding.code();
    }

    @ParameterizedTest
    @CsvSource({"h100x8, 8", "a100x8, 8", "b200x8, 8", "l4x4, 4", "t4, 1"})
    void healthyLinksPassWithTheirRates(String scenario, int gpus) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            List<Finding> findings = findings(node);
            assertThat(findings).hasSize(gpus).allSatisfy(finding -> {
                assertThat(judged(finding)).as(finding.message()).isEqualTo("PASS pciebw-good");
                assertThat(finding.evidence()).hasSize(4).allMatch(measured -> measured.value() > 5);
            });
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            h100x8 | gpu.7.copy.to-device=10000                | FAIL pciebw-crippled
            h100x8 | gpu.7.copy.to-host=10000                  | FAIL pciebw-crippled
            h100x8 | gpu.7.copy.to-host=40000                  | WARN pciebw-low
            h100x8 | gpu.7.copy.to-host=48500                  | PASS pciebw-good
            a100x8 | gpu.all.copy.to-host=27500 gpu.all.copy.to-device=27500 gpu.7.copy.to-host=21500 | WARN pciebw-behind-siblings
            h100x8 | gpu.7.copy.to-host=40000 gpu.7.utilization.gpu=90 | SKIPPED gpu-busy
            h100x8 | gpu.7.copy.to-host=90000                  | UNKNOWN rate-implausible
            h100x8 | gpu.7.pcie.width=8                        | PASS pciebw-good
            h100x8 | gpu.7.cuda.error=out-of-memory            | SKIPPED gpu-memory-full
            h100x8 | gpu.7.cuda.error=device-unavailable       | SKIPPED gpu-in-exclusive-use
            h100x8 | gpu.7.cuda.error=ecc-uncorrectable        | UNKNOWN not-measured
            h100x8 | gpu.7.cuda.error=system-not-ready         | UNKNOWN not-measured
            h100x8 | gpu.7.state=lost                          | SKIPPED gpu-not-answering
            """)
    void onlyTheGpuConcernedIsNamed(String scenario, String changes, String expected) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Stream.of(changes.split(" ")).map(change -> change.split("=")).forEach(pair -> node.set(pair[0], pair[1]));
            List<Finding> findings = findings(node);
            assertThat(judged(findings.get(7))).as(findings.get(7).message()).isEqualTo(expected);
            assertThat(findings.stream().map(PcieBandwidthCheckTest::judged).filter(text -> !text.equals(expected)))
                    .as("the other GPUs")
                    .allMatch("PASS pciebw-good"::equals)
                    .hasSizeGreaterThanOrEqualTo(expected.startsWith("PASS") ? 0 : findings.size() - 1);
        }
    }

    @Test
    void messageNamesTheRatesTheExpectedOneAndItsSource() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("gpu.7.copy.to-device", "10000");
            assertThat(findings(node).get(7).message())
                    .matches(
                            "GPU 7 \\(0000:[0-9a-f]{2}:00\\.0\\): 10\\.0 GB/s to the GPU, 51\\.\\d GB/s back, expected at least"
                                    + " 15\\.8 \\(0\\.25 \\(limits\\.tsv:\\d+\\) of the peak of generation 5 with 16 lanes\\)");
        }
    }

    @Test
    void partitionedGpusAreNotMeasured() {
        try (SimulatedNode node = SimulatedNode.start("a100-mig")) {
            assertThat(findings(node))
                    .anyMatch(finding -> judged(finding).equals("SKIPPED not-measured"))
                    .allMatch(finding -> finding.outcome() == Outcome.PASS
                            || finding.message().contains("MIG"));
        }
    }
}
