package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.ExpectedProduct;
import dev.gpuwarden.core.compute.MemoryPattern;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The contract of a driver that the loader finds. `benchmarks/gpu-acceptance` runs it on a machine with GPUs, and on eight simulated ones,
 * whose memory is this machine's: sizes are small therefore. `gpuwarden check gpumem` grows to the size of a GPU.
 */
@Tag("gpu")
class RealCudaContractTest {

    private static final CopyWork WORK = new CopyWork(16 << 20, Duration.ofMillis(20), Duration.ofSeconds(30));

    private static final Duration LONG = Duration.ofMinutes(1);

    /** Bytes a second: below a PCIe link of one lane and generation 1, above 16 lanes of generation 7. */
    private static final double LEAST = 0.1e9;

    private static final double MOST = 500e9;

    private static ComputeDriver driver() {
        Opening<ComputeDriver> opening = new CudaProvider().open(DriverOptions.defaults());
        assertThat(opening).as(opening.toString()).isInstanceOf(Opened.class);
        return ((Opened<ComputeDriver>) opening).driver();
    }

    @Test
    void copiesOfEachGpuHaveAPlausibleRate() {
        ComputeDriver driver = driver();
        List<String> gpus = driver.gpus();
        assertThat(gpus).isNotEmpty();
        gpus.forEach(gpu -> plausible(gpu, driver.copy(List.of(gpu), WORK).get(0)));
        List<Reading<CopyRates>> together = driver.copy(gpus, WORK);
        for (int i = 0; i < gpus.size(); i++) {
            plausible(gpus.get(i) + " with all others", together.get(i));
        }
    }

    private static void plausible(String what, Reading<CopyRates> reading) {
        CopyRates rates = reading.asOptional().orElseThrow(() -> new AssertionError(what + ": " + reading));
        assertThat(rates.toDevice()).as(what + ", to the GPU").isBetween(LEAST, MOST);
        assertThat(rates.toHost()).as(what + ", to the host").isBetween(LEAST, MOST);
    }

    @Test
    void measuringAgainGivesAboutTheSameRate() {
        ComputeDriver driver = driver();
        List<String> first = driver.gpus().subList(0, 1);
        double one = driver.copy(first, WORK).get(0).asOptional().orElseThrow().toDevice();
        double two = driver.copy(first, WORK).get(0).asOptional().orElseThrow().toDevice();
        assertThat(two).isBetween(one * 0.7, one / 0.7);
    }

    @Test
    void memoryOfEachGpuHoldsEachPattern() {
        ComputeDriver driver = driver();
        List<MemoryPattern> patterns = List.of(MemoryPattern.values());
        MemoryWork work = new MemoryWork(0.5, 1L << 30, 64L << 20, 32L << 20, patterns, 1, LONG);
        for (Reading<MemoryResult> reading : driver.testMemory(driver.gpus(), work, () -> false)) {
            MemoryResult result = reading.asOptional().orElseThrow(() -> new AssertionError(reading));
            assertThat(result.complete()).isTrue();
            assertThat(result.isRight()).as(result.toString()).isTrue();
        }
    }

    @Test
    void vectorsOfEachGpuAreRight() {
        ComputeDriver driver = driver();
        VectorWork work = new VectorWork(1 << 20, 4, 1, LONG);
        for (Reading<VectorResult> reading : driver.measureVectors(driver.gpus(), work, () -> false)) {
            VectorResult result = reading.asOptional().orElseThrow(() -> new AssertionError(reading));
            assertThat(result.verification().isRight()).as(result.toString()).isTrue();
            assertThat(result.bytesPerSecond()).as("bytes a second").isGreaterThan(50e9);
        }
    }

    /** `benchmarks/gpu-acceptance` requires 10^9 elements on a GPU. */
    @Test
    void noElementOfManyIsWrong() {
        long elements = Long.getLong("gpuwarden.elements", 100_000);
        int n = elements < 1_000_000 ? 128 : 8192;
        int rounds = (int) (elements / n / n) + 1;
        ComputeDriver driver = driver();
        ProductWork work = new ProductWork(ProductKind.MIXED, n, rounds, 1, Duration.ofMinutes(10));
        Digest expected = ExpectedProduct.digest(ProductKind.MIXED, n, work.seed());
        for (Reading<ProductResult> reading : driver.measureProducts(driver.gpus(), work, () -> false)) {
            ProductResult result = reading.asOptional().orElseThrow(() -> new AssertionError(reading));
            assertThat(result.verification().elements()).isGreaterThanOrEqualTo(elements);
            assertThat(result.verification().isRight()).as(result.toString()).isTrue();
            assertThat(result.rounds()).extracting(ProductResult.Round::digest).containsOnly(expected);
        }
    }

    @ParameterizedTest
    @EnumSource
    void productsOfEachGpuAreThoseOfTheHost(ProductKind kind) {
        ComputeDriver driver = driver();
        ProductWork work = new ProductWork(kind, 256, 3, 1, LONG);
        Digest expected = ExpectedProduct.digest(kind, work.n(), work.seed());
        for (Reading<ProductResult> reading : driver.measureProducts(driver.gpus(), work, () -> false)) {
            ProductResult result = reading.asOptional().orElseThrow(() -> new AssertionError(reading));
            assertThat(result.verification().isRight()).as(result.toString()).isTrue();
            assertThat(result.rounds()).extracting(ProductResult.Round::digest).containsOnly(expected);
        }
    }
}
