package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.compute.CopiedData;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Copies on simulated nodes, by the real binding of the CUDA driver. */
class PcieBandwidthCheckTest {

    /** Simulated copies move real bytes, and eight GPUs share this machine's memory: few of them are enough. */
    private static final CopyWork SMALL = new CopyWork(128 << 10, Duration.ofNanos(100_000), Duration.ofSeconds(30));

    private static List<Finding> findings(SimulatedNode node) {
        return new PcieBandwidthCheck(SMALL, SMALL).run(CheckContexts.computing(node, BoardLimits.shipped()));
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
                assertThat(finding.evidence()).hasSize(gpus == 1 ? 4 : 5).allMatch(measured -> measured.value() > 5);
            });
        }
    }

    /** GPUs of one node, each with a change of its own; in this scenario only GPU 7 has no workload. */
    @Test
    void eachGpuIsJudgedByItsOwnRates() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("gpu.0.copy.to-host", "40000");
            node.set("gpu.1.copy.to-host", "48500");
            node.set("gpu.2.cuda.error", "out-of-memory");
            node.set("gpu.3.cuda.error", "ecc-uncorrectable");
            node.set("gpu.4.copy.to-host", "90000");
            node.set("gpu.5.pcie.width", "8");
            node.set("gpu.6.copy.to-host", "48500");
            node.set("gpu.7.copy.to-device", "10000");
            List<Finding> findings = findings(node);
            assertThat(findings)
                    .extracting(PcieBandwidthCheckTest::judged)
                    .containsExactly(
                            "SKIPPED gpu-busy",
                            "PASS pciebw-good",
                            "SKIPPED gpu-memory-full",
                            "UNKNOWN not-measured",
                            "UNKNOWN rate-implausible",
                            "PASS pciebw-good",
                            "PASS pciebw-good",
                            "FAIL pciebw-crippled");
            assertThat(findings.get(7).message())
                    .matches("GPU 7 \\(0000:d8:00\\.0\\): 10\\.0 GB/s to the GPU, 51\\.\\d GB/s back, expected at least"
                            + " 15\\.8 \\(0\\.25 \\(limits\\.tsv:\\d+\\) of the peak of generation 5 with 16 lanes\\)");
        }
    }

    @Test
    void crippledLinkIsProvenBeforeTheOtherGpusAreMeasured() {
        try (SimulatedNode node = SimulatedNode.start("a100x8")) {
            node.set("gpu.7.copy.to-device", "3000");
            List<Finding> proofs = new ArrayList<>();
            CheckEnvironment around = CheckContexts.environment(
                            node, CheckContexts.snapshot(node), BoardLimits.shipped(), RateHistory.NONE, GpuAccess.OPEN)
                    .withProofs(proofs::add);
            CheckPlan plan = CheckPlan.of(List.of(new PcieBandwidthCheck(SMALL, SMALL)));
            List<Finding> findings =
                    CheckRunner.once(plan, around, RunListener.NONE).get(0).findings();
            assertThat(proofs).extracting(PcieBandwidthCheckTest::judged).containsExactly("FAIL pciebw-crippled");
            assertThat(judged(findings.get(7))).isEqualTo("FAIL pciebw-crippled");
        }
    }

    /** Returns a driver whose copies have these results, in turn. */
    private static ComputeDriver copying(Deque<Reading<CopyRates>> results) {
        return (ComputeDriver) Proxy.newProxyInstance(
                ComputeDriver.class.getClassLoader(),
                new Class<?>[] {ComputeDriver.class},
                (proxy, method, arguments) -> List.of(results.remove()));
    }

    @Test
    void firstWrongCopyEndsTheMeasurementOfALinkThatWakes() {
        Reading<CopyRates> slow = Reading.of(new CopyRates(1e9, 1e9, new CopiedData(64, 0, OptionalLong.empty())));
        Reading<CopyRates> fast = Reading.of(new CopyRates(2e9, 2e9, new CopiedData(64, 0, OptionalLong.empty())));
        Reading<CopyRates> wrong = Reading.of(new CopyRates(1e9, 1e9, new CopiedData(64, 1, OptionalLong.of(8))));
        Reading<CopyRates> none = Reading.absent(Absence.FAILED, 719, "launch failed");
        PcieBandwidthCheck check = new PcieBandwidthCheck(SMALL, SMALL);
        assertThat(check.awake(copying(new ArrayDeque<>(List.of(wrong, none))), "a"))
                .isEqualTo(wrong);
        assertThat(check.awake(copying(new ArrayDeque<>(List.of(slow, fast, wrong))), "a"))
                .isEqualTo(wrong);
        assertThat(check.awake(copying(new ArrayDeque<>(List.of(slow, none))), "a"))
                .isEqualTo(none);
        assertThat(check.awake(copying(new ArrayDeque<>(List.of(slow, fast, slow))), "a"))
                .isEqualTo(fast);
    }

    /** A run of one GPU whose link is slow in one direction. Returns what was proven, and then the finding. */
    private static List<String> proofs(String toHost, GpuAccess access) {
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            node.set("gpu.0.copy.to-device", "1500");
            node.set("gpu.0.copy.to-host", toHost);
            List<Finding> proofs = new ArrayList<>();
            CheckEnvironment around = CheckContexts.environment(
                            node, CheckContexts.snapshot(node), BoardLimits.shipped(), RateHistory.NONE, access)
                    .withProofs(proofs::add);
            CheckPlan plan = CheckPlan.of(List.of(new PcieBandwidthCheck(SMALL, SMALL)));
            proofs.addAll(
                    CheckRunner.once(plan, around, RunListener.NONE).get(0).findings());
            return proofs.stream().map(PcieBandwidthCheckTest::judged).toList();
        }
    }

    @Test
    void rateThatProvesNothingAtTheEndProvesNothingBefore() {
        assertThat(proofs("10000", GpuAccess.OPEN)).containsExactly("FAIL pciebw-crippled", "FAIL pciebw-crippled");
        assertThat(proofs("90000", GpuAccess.OPEN)).containsExactly("UNKNOWN rate-implausible");
        GpuAccess taken = (check, load, gpus) -> List.of(new GpuAccess.Grant() {
            @Override
            public Optional<GpuAccess.Refusal> withdrawn() {
                return Optional.of(new GpuAccess.Refusal("gpu-held", "a pod has it"));
            }

            @Override
            public void close() {}
        });
        assertThat(proofs("10000", taken)).containsExactly("SKIPPED gpu-held");
    }

    @Test
    void lowRateBesideFasterEqualBoardsAndRefusedContextsAreNamed() {
        try (SimulatedNode node = SimulatedNode.start("a100x8")) {
            node.set("gpu.all.copy.to-host", "27500");
            node.set("gpu.all.copy.to-device", "27500");
            node.set("gpu.7.copy.to-host", "21500");
            node.set("gpu.5.cuda.error", "device-unavailable");
            node.set("gpu.6.cuda.error", "system-not-ready");
            node.set("gpu.4.state", "lost");
            node.set("gpu.3.copy.to-host", "20500");
            assertThat(findings(node).subList(3, 8))
                    .extracting(PcieBandwidthCheckTest::judged)
                    .containsExactly(
                            "WARN pciebw-low",
                            "SKIPPED gpu-not-answering",
                            "SKIPPED gpu-in-exclusive-use",
                            "UNKNOWN cuda-not-ready",
                            "WARN pciebw-behind-siblings");
        }
    }

    @Test
    void slowPairsAreNamedByTheGpuThatTheyShare() {
        try (SimulatedNode node = SimulatedNode.start("a100x8")) {
            node.set("gpu.3.copy.peer.rate", "100000");
            node.set("gpu.5.copy.peer.6.rate", "150000");
            List<Finding> findings = findings(node);
            assertThat(findings)
                    .extracting(PcieBandwidthCheckTest::judged)
                    .containsExactly(
                            "PASS pciebw-good",
                            "PASS pciebw-good",
                            "PASS pciebw-good",
                            "WARN peer-copies-low",
                            "PASS pciebw-good",
                            "WARN peer-copies-low",
                            "WARN peer-copies-low",
                            "PASS pciebw-good");
            assertThat(findings.get(3).message())
                    .containsPattern("100\\.\\d GB/s with 7 of 7 equal GPUs, expected at least ");
            assertThat(findings.get(6).message())
                    .containsPattern("150\\.\\d GB/s with 1 of 7 equal GPUs, expected at least ");
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
