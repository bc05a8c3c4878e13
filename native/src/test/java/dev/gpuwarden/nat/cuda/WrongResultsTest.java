package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.EqualBoard;
import dev.gpuwarden.core.compute.EqualWork;
import dev.gpuwarden.core.compute.EqualWork.Part;
import dev.gpuwarden.core.compute.ExpectedProduct;
import dev.gpuwarden.core.compute.MemoryPattern;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import dev.gpuwarden.core.compute.StragglerVerdict;
import dev.gpuwarden.core.compute.Stragglers;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.compute.WrongResults;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.nat.sim.SimNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A simulated GPU that computes wrong, from its wrong bits to the verdict that names GPU and SM. */
class WrongResultsTest extends TwoBoardsFixture {

    private static final BooleanSupplier NEVER = () -> false;
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final EqualBoard BOARD =
            new EqualBoard("H100", Reading.of(false), Reading.of(700_000L), Reading.of(true));

    private List<ResultVerdict> judged(ProductWork work) {
        List<Reading<ProductResult>> results = driver.measureProducts(driver.gpus(), work, NEVER);
        List<Part> parts = IntStream.range(0, results.size())
                .mapToObj(i -> new Part(driver.gpus().get(i), BOARD, results.get(i)))
                .toList();
        Digest expected = ExpectedProduct.digest(work.kind(), work.n(), work.seed());
        return EqualWork.judge(parts, Optional.of(expected));
    }

    private SimNode wrong(String pattern, String kernel, int sm) {
        return node.set("gpu[1].wrong_pattern", "WRONG_" + pattern)
                .set("gpu[1].wrong_kernel", kernel)
                .set("gpu[1].wrong_sm", sm);
    }

    @ParameterizedTest
    @EnumSource
    void theHostComputesTheDigestOfARightProduct(ProductKind kind) {
        ProductWork work = new ProductWork(kind, 256, 1, 0xfedcba9876543210L, LONG);
        assertThat(driver.measureProducts(driver.gpus().subList(0, 1), work, NEVER)
                        .get(0)
                        .map(result -> result.rounds().get(0).digest()))
                .isEqualTo(Reading.of(ExpectedProduct.digest(kind, 256, work.seed())));
    }

    @ParameterizedTest
    @ValueSource(strings = {"BIT", "BITS", "FRAGMENT", "LANE", "NAN", "NEIGHBOUR"})
    void eachPatternInAProductIsAttributedToGpuAndSm(String pattern) {
        wrong(pattern, "wmma_product", 1);
        List<ResultVerdict> verdicts = judged(new ProductWork(ProductKind.MIXED, 128, 2, 5, LONG));
        assertThat(verdicts.get(0).outcome()).isEqualTo(Outcome.RIGHT);
        assertThat(verdicts.get(1).outcome()).isEqualTo(Outcome.WRONG);
        assertThat(verdicts.get(1).wrongRuns()).isEqualTo(2);
        assertThat(verdicts.get(1).text())
                .startsWith(driver.gpus().get(1) + ": round 1 of 2: ")
                .contains(" of them by SM 1; element ", "written by SM 1");
    }

    @Test
    void aWrongProductInFp64HasItsBits() {
        wrong("BIT", "dgemm", 3);
        ProductWork work = new ProductWork(ProductKind.FP64, 128, 1, 5, LONG);
        Verification seen = driver.measureProducts(driver.gpus(), work, NEVER)
                .get(1)
                .asOptional()
                .orElseThrow()
                .verification();
        assertThat(seen.wrong()).isEqualTo(1);
        assertThat(seen.worstSm()).contains(3);
        var first = seen.first().orElseThrow();
        assertThat(first.index()).isEqualTo(seen.firstIndex().orElseThrow());
        assertThat(Long.bitCount(first.expected() ^ first.seen())).isEqualTo(1);
        assertThat(first.index() / 128).as("row of the last tile").isGreaterThanOrEqualTo(64);
    }

    @Test
    void aGpuWhoseOwnComparisonIsBlindIsNamedByItsDigest() {
        wrong("BIT", "reduce_words", 0);
        List<ResultVerdict> verdicts = judged(new ProductWork(ProductKind.MIXED, 128, 1, 5, LONG));
        assertThat(verdicts.get(0).outcome()).isEqualTo(Outcome.RIGHT);
        assertThat(verdicts.get(1).outcome()).isEqualTo(Outcome.WRONG);
        assertThat(verdicts.get(1).text()).contains("but the closed form's is");
    }

    @ParameterizedTest
    @CsvSource({"wrong_each, 3, 1", "wrong_times, 1, 1", "wrong_above, 40, 4", "wrong_above, 41, 0"})
    void aConditionLimitsTheWrongRounds(String condition, long value, int rounds) {
        wrong("NAN", "wmma_product", 0).set("gpu[1]." + condition, value);
        ResultVerdict verdict =
                judged(new ProductWork(ProductKind.MIXED, 128, 4, 5, LONG)).get(1);
        assertThat(verdict.wrongRuns()).as(verdict.text()).isEqualTo(rounds);
    }

    @Test
    void wrongVectorsAreAttributed() {
        wrong("BITS", "daxpy", 4);
        ResultVerdict verdict = WrongResults.ofVectors(
                "b",
                driver.measureVectors(driver.gpus(), new VectorWork(100_000, 1, 7, LONG), NEVER)
                        .get(1));
        assertThat(verdict.outcome()).isEqualTo(Outcome.WRONG);
        assertThat(verdict.text()).contains(" of them by SM 4; element ");
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONSTANT")
    void memoryThatReturnsAnotherWordIsAttributed(MemoryPattern pattern) {
        wrong("NEIGHBOUR", "pattern_fill", 5);
        MemoryWork work = new MemoryWork(1, 1 << 20, 2 << 20, 1 << 20, List.of(pattern), 7, LONG);
        List<Reading<MemoryResult>> results = driver.testMemory(driver.gpus(), work, NEVER);
        assertThat(WrongResults.ofMemory("a", results.get(0)).outcome()).isEqualTo(Outcome.RIGHT);
        ResultVerdict verdict = WrongResults.ofMemory("b", results.get(1));
        assertThat(verdict.outcome()).isEqualTo(Outcome.WRONG);
        assertThat(verdict.text()).contains("2 of 262144 elements are wrong, 2 of them by SM 5; element ");
    }

    @Test
    void aSlowGpuIsNamedByItsRate() {
        node.set("gpu[0].fp64_gflops", 100).set("gpu[1].fp64_gflops", 80);
        List<Reading<ProductResult>> results =
                driver.measureProducts(driver.gpus(), new ProductWork(ProductKind.FP64, 128, 3, 5, LONG), NEVER);
        List<Stragglers.Sample> samples = IntStream.range(0, 2)
                .mapToObj(i -> new Stragglers.Sample(
                        driver.gpus().get(i),
                        BOARD,
                        results.get(i).map(result -> result.operationsPerSecond() / 1e9),
                        List.of()))
                .toList();
        assertThat(Stragglers.judge(samples, new Stragglers.Limits(0.9, 0.9, 3), "GFLOP/s"))
                .extracting(StragglerVerdict::outcome)
                .containsExactly(StragglerVerdict.Outcome.EVEN, StragglerVerdict.Outcome.SLOW);
    }
}
