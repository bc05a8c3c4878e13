package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.compute.AllReduceWork;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of all checks that give work to GPUs: none passes on a GPU that judges its own results and sees nothing. The first GPU of each
 * node is healthy, the second one is not.
 */
class BlindVerifierTest {

    private static final String VERIFIERS = "'@(*_verify|compare*)'";

    /** Checks whose results the host alone compares. */
    private static final Set<String> BY_THE_HOST = Set.of("pciebw");

    private static final AllReduceWork THREE_SIZES =
            new AllReduceWork(4 << 20, 16 << 20, Duration.ofSeconds(5), 1, Duration.ofSeconds(30));

    @TempDir
    Path folder;

    static List<HealthCheck> working() {
        return GpuChecks.all().stream()
                .filter(check -> check.load() != GpuLoad.NONE)
                .map(BlindVerifierTest::brief)
                .toList();
    }

    /** Returns the same check with less work, where it has a setting for that. */
    private static HealthCheck brief(HealthCheck check) {
        return check instanceof GpuResultsCheck
                ? new GpuResultsCheck(Duration.ZERO, () -> {})
                : check instanceof NcclLoopbackCheck ? new NcclLoopbackCheck(THREE_SIZES) : check;
    }

    private List<Finding> findings(HealthCheck check, String pattern, String kernels) throws IOException {
        return findings(check, 2, pattern, kernels);
    }

    private List<Finding> findings(HealthCheck check, int gpus, String pattern, String kernels) throws IOException {
        Path scenario = Files.writeString(folder.resolve("node.yaml"), """
                driver: 550
                gpus: [{profile: l4, count: %d}]
                """.formatted(gpus));
        try (SimulatedNode node = SimulatedNode.start(scenario.toString())) {
            node.set("gpu.1.cuda.wrong.pattern", pattern);
            node.set("gpu.1.cuda.wrong.kernel", kernels);
            return check.run(CheckContexts.computing(node, BoardLimits.shipped()));
        }
    }

    @ParameterizedTest
    @MethodSource("working")
    void noCheckPassesWithABlindVerifier(HealthCheck check) throws IOException {
        List<Finding> findings = findings(check, "nothing", VERIFIERS);
        Finding healthy = findings.get(0);
        Finding blind = findings.get(1);
        assertThat(healthy.outcome()).as(healthy.message()).isEqualTo(Outcome.PASS);
        if (BY_THE_HOST.contains(check.info().id())) {
            assertThat(blind.outcome()).as(blind.message()).isEqualTo(Outcome.PASS);
            return;
        }
        assertThat(blind.outcome() + " " + blind.code()).as(blind.message()).isEqualTo("FAIL verifier-blind");
        assertThat(blind.message()).contains("the GPU's own comparison missed ", " planted errors; the first is ");
        assertThat(blind.action()).isNotEqualTo(RecommendedAction.NONE);
    }

    /** Its memory has zeros, and all its reports are clean. */
    @Test
    void memoryThatNoKernelWritesIsWrong() throws IOException {
        List<Finding> findings = findings(new GpuMemoryCheck(), "nothing", "'!(copy_*)'");
        assertThat(findings.get(0).outcome()).as(findings.get(0).message()).isEqualTo(Outcome.PASS);
        assertThat(findings.get(1).outcome() + " " + findings.get(1).code())
                .as(findings.get(1).message())
                .isEqualTo("FAIL wrong-result");
    }

    /** Fill and comparison share the fault, and the factors and the product too. */
    @Test
    void resultsOfAWrongGeneratorAreWrongForTheHost() throws IOException {
        Finding wrong = findings(new GpuMemoryCheck(), "stuck", "'@(pattern*|daxpy*|dgemm*)'")
                .get(1);
        assertThat(wrong.code()).as(wrong.message()).isEqualTo("wrong-result");
        assertThat(wrong.message()).contains("random: ", "DAXPY: ", "DGEMM: ");
    }

    @ParameterizedTest
    @CsvSource({"2, nothing, copy_to_host", "3, bits, copy_to_peer"})
    void copiesThatChangeDataAreNotGood(int gpus, String pattern, String copies) throws IOException {
        List<Finding> findings = findings(new PcieBandwidthCheck(), gpus, pattern, copies);
        assertThat(findings.get(0).outcome()).as(findings.get(0).message()).isEqualTo(Outcome.PASS);
        assertThat(findings.get(1).code()).as(findings.get(1).message()).startsWith("wrong-copy");
        assertThat(findings.get(1).message()).contains("words are wrong, the first at byte ");
    }

    @Test
    void oneMissedErrorIsNoFaultAndNoPass() {
        ResultVerdict missed = new ResultVerdict("DAXPY", ResultVerdict.Outcome.BLIND, 1, "DAXPY: missed");
        GpuSnapshot gpu = Gpus.gpu(frame -> {});
        CheckContext context = Gpus.context(Snapshots.running(1, gpu), GpuHistory.NONE, Limits.NONE);
        FindingBuilder once = new FindingBuilder(gpu, context);
        RepeatedWrongNotes.add(once, List.of(missed));
        once.pass("gpu-memory-good", "all is right");
        assertThat(once.finding().outcome() + " " + once.finding().code()).isEqualTo("UNKNOWN verifier-blind-once");
        FindingBuilder again = new FindingBuilder(gpu, context);
        RepeatedWrongNotes.add(again, List.of(missed));
        assertThat(again.finding().outcome() + " " + again.finding().code()).isEqualTo("FAIL verifier-blind");
    }
}
