package dev.gpuwarden.nat.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.compute.MemoryPattern;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.nat.sim.SimNode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The measurements by kernels, on two simulated H100 whose library runs the same source. */
class MeasurementsTest {

    private static final BooleanSupplier NEVER = () -> false;
    private static final Duration LONG = Duration.ofSeconds(20);
    private static final VectorWork VECTORS = new VectorWork(100_000, 3, 7, LONG);
    private static final MemoryWork MEMORY =
            new MemoryWork(0.5, 1L << 30, 3L << 20, 1L << 20, List.of(MemoryPattern.values()), 7, LONG);

    @TempDir
    Path folder;

    private SimNode node;
    private ComputeDriver driver;

    @BeforeEach
    void start() {
        node = SimNode.of("550", folder);
        Opening<ComputeDriver> opening =
                new CudaProvider().open(new DriverOptions(List.of(node.folder().toString()), SamplerPath.AUTO));
        assertThat(opening).as(opening.toString()).isInstanceOf(Opened.class);
        driver = ((Opened<ComputeDriver>) opening).driver();
    }

    /** Each measurement gives its memory back, also if it failed. */
    @AfterEach
    void noMemoryIsLeft() {
        try (Driver nvml = node.open(SamplerPath.AUTO)) {
            assertThat(nvml.processes(0)).isEqualTo(Reading.of(List.of()));
            assertThat(nvml.processes(1)).isEqualTo(Reading.of(List.of()));
        }
    }

    private static ProductWork product(ProductKind kind, int rounds) {
        return new ProductWork(kind, 128, rounds, 5, LONG);
    }

    private static <T> T present(Reading<T> reading) {
        return reading.asOptional().orElseThrow(() -> new AssertionError(reading));
    }

    private static Reading.Absent<?> absent(Reading<?> reading) {
        assertThat(reading).isInstanceOf(Reading.Absent.class);
        return (Reading.Absent<?>) reading;
    }

    @Test
    void vectorsAreRightAndHaveARate() {
        for (Reading<VectorResult> reading : driver.measureVectors(driver.gpus(), VECTORS, NEVER)) {
            VectorResult result = present(reading);
            assertThat(result.verification().elements()).isEqualTo(100_000);
            assertThat(result.verification().wrong()).isZero();
            assertThat(result.bytesPerSecond()).isBetween(1e9, 1e13);
        }
    }

    @ParameterizedTest
    @EnumSource
    void productsAreRightAndTheSameOnAllGpus(ProductKind kind) {
        List<Reading<ProductResult>> readings = driver.measureProducts(driver.gpus(), product(kind, 2), NEVER);
        List<ProductResult> results =
                readings.stream().map(MeasurementsTest::present).toList();
        assertThat(results).hasSize(2).allSatisfy(result -> {
            assertThat(result.rounds()).hasSize(2);
            assertThat(result.verification().elements()).isEqualTo(2 * 128 * 128);
            assertThat(result.verification().wrong()).isZero();
            assertThat(result.operationsPerSecond()).isPositive();
        });
        assertThat(results.stream()
                        .flatMap(result -> result.rounds().stream())
                        .map(ProductResult.Round::digest)
                        .distinct())
                .hasSize(1);
    }

    @Test
    void memoryIsTestedWithEachPattern() {
        for (Reading<MemoryResult> reading : driver.testMemory(driver.gpus(), MEMORY, NEVER)) {
            MemoryResult result = present(reading);
            assertThat(result.bytes()).isEqualTo(3L << 20);
            assertThat(result.complete()).isTrue();
            assertThat(result.isRight()).isTrue();
            assertThat(result.patterns())
                    .extracting(MemoryResult.PatternResult::pattern)
                    .containsExactly(MemoryPattern.values());
            assertThat(result.patterns())
                    .allSatisfy(pattern ->
                            assertThat(pattern.verification().elements()).isEqualTo(3L << 17));
        }
    }

    @Test
    void memoryBelowTheReserveIsNotTaken() {
        long free = 2L << 20;
        node.set(
                "gpu[0].mem_used",
                node.get("gpu[0].mem_total") - node.get("gpu[0].mem_reserved") - (600L << 20) - free);
        Reading.Absent<?> why =
                absent(driver.testMemory(driver.gpus(), MEMORY, NEVER).get(0));
        assertThat(why.cause()).isEqualTo(Absence.NO_DATA);
        assertThat(why.detail()).contains("no piece of 1048576 bytes fits");
    }

    @Test
    void aStoppedTestHasWhatItHasDone() {
        int[] asked = {0};
        MemoryResult result = present(driver.testMemory(driver.gpus().subList(0, 1), MEMORY, () -> ++asked[0] > 8)
                .get(0));
        assertThat(result.complete()).isFalse();
        assertThat(result.patterns()).isNotEmpty();
        Reading.Absent<?> why = absent(driver.measureProducts(driver.gpus(), product(ProductKind.MIXED, 2), () -> true)
                .get(0));
        assertThat(why.cause()).isEqualTo(Absence.NO_DATA);
        assertThat(why.detail()).isEqualTo("stopped by its caller");
    }

    @ParameterizedTest
    @CsvSource({
        "cuModuleLoadData, 222, NOT_SUPPORTED",
        "cuModuleLoadData, 209, NOT_SUPPORTED",
        "cuModuleLoadData, 218, FAILED",
        "cuModuleLoadData, 300, FAILED",
        "cuMemAlloc_v2, 2, FAILED",
        "cuEventSynchronize, 214, FAILED",
        "cuLaunchKernel, 700, FAILED",
    })
    void anErrorNamesFunctionAndResult(String function, int code, Absence cause) {
        node.error(0, function, code).set("fault[0].gpu", 0);
        List<Reading<VectorResult>> results = driver.measureVectors(driver.gpus(), VECTORS, NEVER);
        Reading.Absent<?> why = absent(results.get(0));
        assertThat(why.cause()).isEqualTo(cause);
        assertThat(why.code()).isEqualTo(code);
        assertThat(why.detail()).startsWith(function + " answered " + code + " (CUDA_ERROR_");
        assertThat(present(results.get(1)).verification().isRight()).isTrue();
        node.heal(0);
    }

    /** The launch takes 5 µs, so its 432 MB have more than 80 TB/s. */
    @Test
    void aRateThatNoGpuReachesIsImplausible() {
        node.set("gpu[0].copy_memory_mbps", 1L << 50).set("gpu[0].fp64_gflops", 1L << 40);
        Reading.Absent<?> why =
                absent(driver.measureVectors(driver.gpus().subList(0, 1), new VectorWork(18_000_000, 1, 7, LONG), NEVER)
                        .get(0));
        assertThat(why.cause()).isEqualTo(Absence.IMPLAUSIBLE);
        assertThat(why.detail()).endsWith("bytes a second");
    }

    @Test
    void aDriverThatIsOlderThanTheKernelsIsAbsentWithItsAnswer() {
        node.set("header.cuda_version", 11_070);
        Reading.Absent<?> why =
                absent(driver.testMemory(driver.gpus(), MEMORY, NEVER).get(0));
        assertThat(why.cause()).isEqualTo(Absence.NOT_SUPPORTED);
        assertThat(why.code()).isEqualTo(222);
    }

    @Test
    void aGpuThatHangsIsStaleAndOthersAreMeasured() throws InterruptedException {
        node.hang(0, "cuLaunchKernel").set("fault[0].gpu", 0);
        VectorWork brief = new VectorWork(1000, 1, 7, Duration.ofSeconds(1));
        List<Reading<VectorResult>> results = driver.measureVectors(driver.gpus(), brief, NEVER);
        assertThat(absent(results.get(0)).cause()).isEqualTo(Absence.STALE);
        assertThat(present(results.get(1)).verification().isRight()).isTrue();
        assertThat(driver.gpus())
                .filteredOn(driver::isIdle)
                .containsExactly(driver.gpus().get(1));
        node.heal(0);
        awaitFree();
        assertThat(driver.gpus()).allMatch(driver::isIdle);
    }

    /** The call that hung returns after the repair, and its thread then gives the memory back. */
    private void awaitFree() throws InterruptedException {
        long end = System.nanoTime() + 10_000_000_000L;
        while ((node.get("cuda_client[0].pid") + node.get("cuda_client[1].pid") != 0
                        || !driver.gpus().stream().allMatch(driver::isIdle))
                && System.nanoTime() < end) {
            Thread.onSpinWait();
        }
    }
}
