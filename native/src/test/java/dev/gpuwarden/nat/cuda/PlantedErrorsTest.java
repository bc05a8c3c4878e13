package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.CopiedData;
import dev.gpuwarden.core.compute.MemoryPattern;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.PlantedErrors;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.compute.WrongResults;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.core.port.ComputeDriver.PeerPair;
import dev.gpuwarden.core.port.ComputeDriver.PeerRate;
import dev.gpuwarden.nat.sim.SimNode;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Errors that the host plants before each comparison on two simulated H100, one of which may be blind.
 * {@code -Dgpuwarden.planted.runs=1000} makes a thousand runs of each kind.
 */
class PlantedErrorsTest extends TwoBoardsFixture {

    private static final BooleanSupplier NEVER = () -> false;
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final int RUNS = Integer.getInteger("gpuwarden.planted.runs", 10);
    private static final MemoryWork MEMORY =
            new MemoryWork(1, 1 << 20, 1 << 20, 1 << 18, List.of(MemoryPattern.values()), 7, LONG);
    private static final VectorWork VECTORS = new VectorWork(50_000, 2, 7, LONG);
    private static final CopyWork COPIES = new CopyWork(1 << 20, Duration.ofNanos(1), LONG);

    private SimNode wrong(String pattern, String kernel) {
        return node.set("gpu[1].wrong_pattern", "WRONG_" + pattern).set("gpu[1].wrong_kernel", kernel);
    }

    private static ProductWork product(ProductKind kind) {
        return new ProductWork(kind, 128, 2, 5, LONG);
    }

    private static <T> T of(List<Reading<T>> readings, int gpu) {
        Reading<T> reading = readings.get(gpu);
        return reading.asOptional().orElseThrow(() -> new AssertionError(reading));
    }

    private MemoryResult memory(int gpu) {
        return of(driver.testMemory(driver.gpus(), MEMORY, NEVER), gpu);
    }

    private VectorResult vectors(int gpu) {
        return of(driver.measureVectors(driver.gpus(), VECTORS, NEVER), gpu);
    }

    private Verification product(ProductKind kind, int gpu) {
        return of(driver.measureProducts(driver.gpus(), product(kind), NEVER), gpu)
                .verification();
    }

    /** Each run plants four errors in memory, one in vectors, and one in each of two products of each kind. */
    @Test
    void eachErrorIsFoundAndCountsForNothing() {
        int planted = 0;
        for (int run = 0; run < RUNS; run++) {
            for (int gpu = 0; gpu < 2; gpu++) {
                MemoryResult memory = memory(gpu);
                VectorResult vectors = vectors(gpu);
                assertThat(memory.isRight() && memory.complete())
                        .as("run %s: %s", run, memory)
                        .isTrue();
                assertThat(vectors.isRight()).as("run %s: %s", run, vectors).isTrue();
                Verification all = memory.verification()
                        .and(vectors.verification())
                        .and(product(ProductKind.FP64, gpu))
                        .and(product(ProductKind.MIXED, gpu));
                assertThat(all.isRight()).as("run %s: %s", run, all).isTrue();
                assertThat(all.wrong()).isZero();
                assertThat(all.planted()).isEqualTo(new PlantedErrors(9, 0, Optional.empty()));
                planted += all.planted().planted();
            }
        }
        assertThat(planted).isEqualTo(RUNS * 2 * 9);
    }

    /** The same with a GPU whose comparisons do nothing: no run passes. */
    @Test
    void aBlindComparisonIsFoundInEachRun() {
        wrong("NOTHING", "*_verify");
        for (int run = 0; run < RUNS; run++) {
            assertThat(memory(1).verification().planted().missed()).isEqualTo(4);
            assertThat(vectors(1).verification().planted().missed()).isEqualTo(1);
        }
        assertThat(WrongResults.ofMemory("b", Reading.of(memory(1))).outcome()).isEqualTo(Outcome.BLIND);
        assertThat(WrongResults.ofVectors("b", Reading.of(vectors(1))).outcome())
                .isEqualTo(Outcome.BLIND);
        assertThat(memory(0).isRight()).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void aBlindComparisonOfProductsIsFound(ProductKind kind) {
        wrong("NOTHING", "*_verify");
        assertThat(product(kind, 1).planted().missed()).isEqualTo(2);
        assertThat(product(kind, 0).isRight()).isTrue();
    }

    /** A fill that leaves zeros, and a comparison that reports nothing, or both share a wrong generator: the host sees it. */
    @ParameterizedTest
    @CsvSource({"NOTHING, pattern_*", "NOTHING, pattern_fill", "STUCK, pattern_*"})
    void memoryThatHoldsOtherWordsThanTheHostsIsWrong(String pattern, String kernels) {
        wrong(pattern, kernels);
        MemoryResult memory = memory(1);
        assertThat(WrongResults.ofMemory("b", Reading.of(memory)).outcome())
                .as(memory.toString())
                .isEqualTo(Outcome.WRONG);
        assertThat(memory.isRight()).isFalse();
        assertThat(memory(0).isRight()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"NOTHING, daxpy*", "NOTHING, daxpy", "STUCK, daxpy*"})
    void vectorsThatDifferFromTheHostsAreWrong(String pattern, String kernels) {
        wrong(pattern, kernels);
        VectorResult vectors = vectors(1);
        assertThat(WrongResults.ofVectors("b", Reading.of(vectors)).outcome())
                .as(vectors.toString())
                .isEqualTo(Outcome.WRONG);
        assertThat(vectors(0).isRight()).isTrue();
    }

    /** A stuck bit of one SM is in 1 of 132 blocks: the digest of the part finds it wherever the planted error is. */
    @Test
    void aGeneratorThatIsWrongInOneSmAloneIsFoundByTheDigest() {
        wrong("STUCK", "daxpy*").set("gpu[1].wrong_sm", 1);
        assertThat(vectors(1).digest().isRight()).isFalse();
    }

    @ParameterizedTest
    @EnumSource
    void productsOfAWrongGeneratorAreFound(ProductKind kind) {
        wrong("STUCK", kind == ProductKind.FP64 ? "dgemm*" : "wmma*");
        Verification seen = product(kind, 1);
        assertThat(seen.hasWrong()).as(seen.toString()).isTrue();
    }

    /** Copies of GPU 1 are wrong. The host writes to it, it copies to GPU 0, and GPU 0 copies that to the host. */
    @ParameterizedTest
    @CsvSource({
        "NOTHING, copy_to_device, true, true",
        "NOTHING, copy_to_host, true, false",
        "NOTHING, copy_to_peer, false, true",
        "BIT, copy_to_device, true, true",
        "BIT, copy_to_peer, false, true",
    })
    void copiesOfWrongDataAreNotRight(String pattern, String copy, boolean hostWrong, boolean peerWrong) {
        wrong(pattern, copy);
        List<String> gpus = driver.gpus();
        List<CopyRates> host = List.of(of(driver.copy(gpus, COPIES), 0), of(driver.copy(gpus, COPIES), 1));
        assertThat(host.get(0).data()).isEqualTo(right());
        assertThat(host.get(1).data().isRight()).isEqualTo(!hostWrong);
        List<PeerPair> pairs = List.of(new PeerPair(gpus.get(1), gpus.get(0)));
        PeerRate peer = of(driver.copyToPeers(pairs, COPIES), 0);
        assertThat(peer.data().isRight()).isEqualTo(!peerWrong);
    }

    @Test
    void copiesOfRightDataAreRight() {
        List<String> gpus = driver.gpus();
        List<PeerPair> pairs = List.of(new PeerPair(gpus.get(0), gpus.get(1)), new PeerPair(gpus.get(1), gpus.get(0)));
        assertThat(driver.copyToPeers(pairs, COPIES))
                .allMatch(rate -> rate.asOptional()
                        .filter(one -> one.data().equals(right()))
                        .isPresent());
    }

    private static CopiedData right() {
        return new CopiedData(1 << 20, 0, OptionalLong.empty());
    }
}
