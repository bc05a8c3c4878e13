package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.checks.CheckEnvironment;
import dev.gpuwarden.checks.CheckPlan;
import dev.gpuwarden.checks.CheckRunner;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuAccess;
import dev.gpuwarden.core.check.GpuAccess.Refusal;
import dev.gpuwarden.core.check.RateHistory;
import dev.gpuwarden.core.check.RunListener;
import dev.gpuwarden.core.compute.AllReduceWork;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** All-reduces on simulated nodes, by the real binding: data moves, and times are those of the simulated links. */
class NcclLoopbackCheckTest {

    /** Eight GPUs share this machine's memory and processors. */
    private static final AllReduceWork SMALL =
            new AllReduceWork(16 << 20, 16 << 20, Duration.ofSeconds(5), 2, Duration.ofSeconds(30));

    private static List<Finding> findings(SimulatedNode node, AllReduceWork work) {
        return new NcclLoopbackCheck(work).run(CheckContexts.computing(node, BoardLimits.shipped()));
    }

    private static String judged(Finding finding) {
        return finding.outcome() + " " + finding.code();
    }

    @ParameterizedTest
    @CsvSource({"a100x8, 150, 8", "l4x4, 5, 3"})
    void freeGpusPassWithTheBandwidthOfTheLargestSize(String scenario, String limit, int free) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            List<Finding> findings = findings(node, SMALL);
            List<Finding> measured = findings.subList(findings.size() - free, findings.size());
            assertThat(measured).allSatisfy(finding -> {
                assertThat(judged(finding)).as(finding.message()).isEqualTo("PASS nccl-loopback-good");
                assertThat(finding.evidence().get(0).expected()).startsWith("at least " + limit + " (");
                assertThat(finding.evidence().get(1).value()).isEqualTo(16 << 20);
                assertThat(finding.evidence().get(2).value()).isEqualTo(free);
                assertThat(finding.evidence().get(3).name()).isEqualTo("nccl_in_place_busbw_gigabytes_per_second");
                assertThat(finding.evidence().get(3).value()).isPositive();
            });
            assertThat(findings.subList(0, findings.size() - free))
                    .extracting(NcclLoopbackCheckTest::judged)
                    .allMatch("SKIPPED gpu-held"::equals);
        }
    }

    /** Sizes double until an operation takes long on this machine, and a small size is no evidence of a slow link. */
    @Test
    void smallSizesWithoutEvidenceAreNoFault() {
        try (SimulatedNode node = SimulatedNode.start("a100x8")) {
            AllReduceWork tiny = new AllReduceWork(8, 1 << 20, Duration.ofNanos(1), 1, Duration.ofSeconds(30));
            assertThat(findings(node, tiny))
                    .hasSize(8)
                    .allSatisfy(finding -> assertThat(judged(finding)).isEqualTo("UNKNOWN size-too-small"));
        }
    }

    @Test
    void gpuWithASlowLinkIsNamedByPairs() {
        try (SimulatedNode node = SimulatedNode.start("a100x8")) {
            node.set("gpu.5.nccl.rate", "2000");
            List<Finding> findings = findings(node, SMALL);
            assertThat(findings)
                    .filteredOn(finding -> finding.outcome() != Outcome.PASS)
                    .singleElement()
                    .satisfies(slow -> {
                        assertThat(judged(slow)).isEqualTo("FAIL NCCL_BW_DEGRADED");
                        assertThat(slow.action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
                        assertThat(slow.subject().label()).startsWith("GPU 5");
                        assertThat(slow.message())
                                .matches(
                                        "GPU 5 .*: 2\\.0 GB/s of bus bandwidth in an all-reduce of 16 MiB"
                                                + " between 8 GPUs, expected at least 150 \\(limits\\.tsv:\\d+\\); in pairs, GPU 5 .* is slower");
                    });
        }
    }

    @Test
    void wrongSumsAreAFaultOfTheirGpuWhenTheyRepeat() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.2.nccl.wrong", "5");
            CheckContext context = CheckContexts.computing(node, BoardLimits.shipped());
            NcclLoopbackCheck check = new NcclLoopbackCheck(SMALL);
            List<Finding> once = check.run(context);
            assertThat(judged(once.get(2))).as(once.get(2).message()).isEqualTo("WARN wrong-sum-once");
            List<Finding> again = check.run(context);
            assertThat(again)
                    .extracting(NcclLoopbackCheckTest::judged)
                    .containsExactly(
                            "SKIPPED gpu-held", "PASS nccl-loopback-good", "FAIL wrong-sum", "PASS nccl-loopback-good");
            assertThat(again.get(2).action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
            assertThat(again.get(2).message())
                    .contains("1 of 1 sizes have wrong sums; the first, of 16777216 bytes, has 5 wrong elements");
        }
    }

    /** GPU 1 is withdrawn after wrong sums of GPU 2. The others are measured once more, and all sums are right. */
    @Test
    void secondMeasurementDoesNotReplaceWrongSumsOfTheFirst() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.2.nccl.wrong", "5");
            AtomicBoolean withdrawn = new AtomicBoolean();
            GpuAccess access = (check, load, gpus) -> gpus.stream()
                    .<GpuAccess.Answer>map(gpu -> new GpuAccess.Grant() {
                        @Override
                        public Optional<Refusal> withdrawn() {
                            return gpu.identity().label().startsWith("GPU 1") && withdrawn.get()
                                    ? Optional.of(new Refusal("gpu-held", "a pod"))
                                    : Optional.empty();
                        }

                        @Override
                        public void close() {}
                    })
                    .toList();
            CheckEnvironment around = CheckContexts.environment(
                            node, CheckContexts.snapshot(node), BoardLimits.shipped(), RateHistory.NONE, access)
                    .withProofs(proof -> {
                        node.set("gpu.2.nccl.wrong", "0");
                        withdrawn.set(true);
                    });
            List<Finding> findings = CheckRunner.once(
                            CheckPlan.of(List.of(new NcclLoopbackCheck(SMALL))), around, RunListener.NONE)
                    .get(0)
                    .findings();
            assertThat(findings)
                    .extracting(NcclLoopbackCheckTest::judged)
                    .containsExactly(
                            "PASS nccl-loopback-good",
                            "SKIPPED gpu-held",
                            "WARN wrong-sum-once",
                            "PASS nccl-loopback-good");
        }
    }

    @Test
    void driverTooOldToCompareSumsIsNamed(@TempDir Path folder) throws IOException {
        Path scenario = Files.writeString(folder.resolve("old.yaml"), """
                driver: 550
                gpus: [{profile: l4, count: 2}]
                faults: [{name: old, function: cuModuleLoadData, gpu: all, error: 222}]
                """);
        try (SimulatedNode node = SimulatedNode.start(scenario.toString())) {
            assertThat(findings(node, SMALL)).hasSize(2).allSatisfy(finding -> {
                assertThat(judged(finding)).isEqualTo("PASS nccl-loopback-good");
                assertThat(finding.message()).contains("sums are not compared, since the driver or the GPU is too old");
            });
        }
    }

    @ParameterizedTest
    @CsvSource({
        "internal, FAIL NCCL_INTERNAL_ERROR, RUN_DCGMEUD",
        "invalid-usage, WARN NCCL_INVALID_USAGE, NONE",
        "cuda, UNKNOWN not-measured, NONE"
    })
    void errorsOfNcclHaveTheSpecifiedActions(String error, String judged, RecommendedAction action) {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.2.nccl.error", error);
            List<Finding> findings = findings(node, SMALL);
            assertThat(judged(findings.get(2))).as(findings.get(2).message()).isEqualTo(judged);
            assertThat(findings.get(2).action()).isEqualTo(action);
            assertThat(judged(findings.get(1))).isEqualTo("UNKNOWN not-measured");
            assertThat(findings.get(1).message()).contains("ended by a failure of GPU 2");
        }
    }

    /** Memory, /dev/shm or a socket of the host that failed: it blames no GPU, neither that of the rank nor another. */
    @ParameterizedTest
    @CsvSource({"system, a call of the host's system failed", "remote, a connection in this host ended"})
    void errorsOfTheHostAreOfNoGpu(String error, String text) {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.2.nccl.error", error);
            assertThat(findings(node, SMALL).subList(1, 4)).allSatisfy(finding -> {
                assertThat(judged(finding)).as(finding.message()).isEqualTo("UNKNOWN not-measured");
                assertThat(finding.action()).isEqualTo(RecommendedAction.NONE);
                assertThat(finding.message())
                        .contains(text, "proves nothing about a GPU")
                        .doesNotContain("a failure of GPU");
            });
        }
    }

    @Test
    void gpuThatTakesNoPartEndsTheCheckInTime() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            node.set("gpu.2.nccl.dead", "yes");
            AllReduceWork brief = new AllReduceWork(8, 8, Duration.ofSeconds(1), 1, Duration.ofSeconds(2));
            List<Finding> findings = findings(node, brief);
            assertThat(findings.subList(1, 4))
                    .extracting(NcclLoopbackCheckTest::judged)
                    .containsOnly("WARN NCCL_TIMEOUT");
        }
    }

    @Test
    void nodesWithoutNcclOrWithOneGpuAreSkipped() {
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            // The context of checks without a library.
            Finding skipped = new NcclLoopbackCheck(SMALL)
                    .run(CheckContexts.context(node, BoardLimits.shipped()))
                    .get(1);
            assertThat(judged(skipped)).as(skipped.message()).isEqualTo("SKIPPED no-nccl");
            assertThat(skipped.remedy()).contains("libnccl2");
        }
        try (SimulatedNode node = SimulatedNode.start("t4")) {
            assertThat(findings(node, SMALL))
                    .extracting(NcclLoopbackCheckTest::judged)
                    .containsExactly("SKIPPED one-gpu");
        }
    }
}
