package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.gpu.GrowingWork.Sized;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.check.Limits.Limit;
import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.ExpectedProduct;
import dev.gpuwarden.core.compute.MemoryPattern;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.compute.WrongResults;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A measurement of each GPU's memory and FP64 arithmetic: patterns that memory must hold, its bandwidth by y = a x + y
 * (DAXPY), and a product of matrices (DGEMM) by cuBLAS, or by the own kernel. Every result is compared with its closed form, on the GPU. The
 * host plants an error for each comparison, and computes digests of its own.
 */
@AutoService(HealthCheck.class)
public final class GpuMemoryCheck extends ComputeCheck<GpuMemoryCheck.Measured> {

    private static final long SEED = 1;
    private static final long MEBIBYTE = 1L << 20;

    /** Memory that a test leaves to others. */
    private static final long RESERVE_BYTES = 1024 * MEBIBYTE;

    private static final double SHARE_OF_FREE = 0.5;

    /** Ten times what a launch costs. */
    private static final double LEAST_LAUNCH_SECONDS = 50e-6;

    private static final List<MemoryWork> MEMORY = LongStream.of(32, 64, 256, 1024, 8192, Long.MAX_VALUE / MEBIBYTE)
            .mapToObj(mebibytes -> memory(mebibytes * MEBIBYTE))
            .toList();
    private static final List<VectorWork> VECTORS = LongStream.of(
                    1 << 16, 1 << 20, 1 << 22, 1 << 24, VectorWork.USUAL_COUNT)
            .mapToObj(count -> new VectorWork(count, VectorWork.USUAL_ROUNDS, SEED, WORK_DEADLINE))
            .toList();
    private static final List<ProductWork> PRODUCTS = IntStream.of(128, 256, 512, 1024, 2048, 4096)
            .mapToObj(n -> new ProductWork(ProductKind.FP64, n, 2, SEED, WORK_DEADLINE).withLibrary())
            .toList();

    private static MemoryWork memory(long mostBytes) {
        return new MemoryWork(
                SHARE_OF_FREE,
                RESERVE_BYTES,
                mostBytes,
                32 * MEBIBYTE,
                List.of(MemoryPattern.values()),
                SEED,
                WORK_DEADLINE);
    }

    /**
     * The results of one GPU.
     *
     * @param expected the digest of the right product; empty without a product, or before the end of the check
     */
    record Measured(
            Reading<MemoryResult> memory,
            Reading<VectorResult> vectors,
            Reading<ProductResult> product,
            Optional<Digest> expected) {

        private static <R> Reading<R> later() {
            return Reading.absent(Absence.PENDING, 0, "measured later in the run");
        }

        static Measured ofMemory(Reading<MemoryResult> memory) {
            return new Measured(memory, later(), later(), Optional.empty());
        }

        static Measured ofVectors(Reading<VectorResult> vectors) {
            return new Measured(later(), vectors, later(), Optional.empty());
        }

        static Measured ofProduct(Reading<ProductResult> product) {
            return new Measured(later(), later(), product, Optional.empty());
        }

        Reading<Double> bandwidth() {
            return vectors.map(result -> result.bytesPerSecond() / 1e9);
        }

        /** Returns whether a launch of DAXPY took long enough for a limit in bytes a second. */
        boolean isLong() {
            return vectors.asOptional()
                    .filter(result -> 3.0 * Double.BYTES * result.verification().elements() / result.bytesPerSecond()
                            >= LEAST_LAUNCH_SECONDS)
                    .isPresent();
        }

        /** Returns the name of what computed DGEMM: only rates of the same are compared. */
        Optional<String> producer() {
            return product.asOptional().map(result -> result.producer().name());
        }

        Reading<Double> rate() {
            return product.map(result -> result.operationsPerSecond() / 1e12);
        }
    }

    @Override
    public CheckInfo info() {
        return CheckInfo.of(
                        "gpumem", "GPU", "Memory holds what is written, and memory and FP64 units reach their rates.")
                .every(Duration.ofHours(4))
                .damped(1, 3);
    }

    @Override
    List<Reading<Measured>> measure(Work<Measured> given) {
        ComputeDriver driver = given.driver();
        List<String> uuids = given.uuids();
        GrowingWork growing = new GrowingWork(System::nanoTime);
        given.reports().progress("memory patterns", 0, 3);
        List<Sized<MemoryWork, MemoryResult>> memory = growing.run(
                MEMORY,
                work -> given.soFar(driver.testMemory(uuids, work, given.stopped()), Measured::ofMemory),
                MemoryResult::isRight);
        given.reports().progress("memory bandwidth (DAXPY)", 1, 3);
        List<Sized<VectorWork, VectorResult>> vectors = growing.run(
                VECTORS,
                work -> given.soFar(driver.measureVectors(uuids, work, given.stopped()), Measured::ofVectors),
                VectorResult::isRight);
        given.reports().progress("FP64 products (DGEMM)", 2, 3);
        List<Sized<ProductWork, ProductResult>> products = growing.run(
                PRODUCTS,
                work -> given.soFar(driver.measureProducts(uuids, work, given.stopped()), Measured::ofProduct),
                result -> result.verification().isRight());
        Map<ProductWork, Digest> expected = new HashMap<>();
        List<Reading<Measured>> all = new ArrayList<>();
        for (int i = 0; i < uuids.size(); i++) {
            all.add(Reading.of(new Measured(
                    memory.get(i).result(),
                    vectors.get(i).result(),
                    products.get(i).result(),
                    expected(products.get(i), expected))));
        }
        return all;
    }

    private static Optional<Digest> expected(
            Sized<ProductWork, ProductResult> product, Map<ProductWork, Digest> known) {
        return product.result()
                .asOptional()
                .map(unused -> known.computeIfAbsent(
                        product.work(), work -> ExpectedProduct.digest(work.kind(), work.n(), work.seed())));
    }

    @Override
    void evaluate(FindingBuilder builder, Measured measured, List<Measured> siblings) {
        List<ResultVerdict> verdicts = List.of(
                WrongResults.ofMemory("memory", measured.memory()),
                WrongResults.ofVectors("DAXPY", measured.vectors()),
                verdict("DGEMM", builder, measured.product(), measured.expected()));
        RepeatedWrongNotes.add(builder, verdicts);
        without(builder, measured.memory(), verdicts.get(0));
        without(builder, measured.vectors(), verdicts.get(1));
        without(builder, measured.product(), verdicts.get(2));
        builder.pass(
                "gpu-memory-good",
                "memory holds each pattern, and DAXPY and DGEMM are exact" + producer(measured.product()));
        slow(builder, "DAXPY", "GB/s", measured, siblings, Measured::bandwidth);
        List<Measured> alike = siblings.stream()
                .filter(other -> other.producer().equals(measured.producer()))
                .toList();
        slow(builder, "DGEMM", "TFLOP/s", measured, alike, Measured::rate);
        measured.bandwidth()
                .asOptional()
                .ifPresent(rate -> limit(builder, measured)
                        .filter(limit -> rate < limit.value())
                        .ifPresent(limit -> builder.warn(
                                "gpu-memory-slow",
                                String.format(Locale.ROOT, "memory reached %.0f GB/s, expected at least ", rate)
                                        + LimitText.brief(limit),
                                "check clocks, temperature and ECC by 'gpuwarden check all'; run NVIDIA's field diagnostic",
                                LimitText.atLeast("daxpy_gigabytes_per_second", rate, limit))));
        values(builder, measured);
    }

    /** Returns the board's limit; empty for work so small that its launches count, which a slow host alone chooses. */
    private static Optional<Limit> limit(FindingBuilder builder, Measured measured) {
        return measured.isLong() ? builder.limit("daxpy_gigabytes_per_second") : Optional.empty();
    }

    @Override
    void evaluateIncomplete(FindingBuilder builder, Measured measured) {
        RepeatedWrongNotes.addWrong(
                builder,
                List.of(
                        WrongResults.ofMemory("memory", measured.memory()),
                        WrongResults.ofVectors("DAXPY", measured.vectors()),
                        verdict("DGEMM", builder, measured.product(), measured.expected())));
    }

    private static void slow(
            FindingBuilder builder,
            String work,
            String unit,
            Measured own,
            List<Measured> siblings,
            Function<Measured, Reading<Double>> rate) {
        rate.apply(own)
                .asOptional()
                .ifPresent(value -> Straggling.add(
                        builder,
                        work,
                        unit,
                        value,
                        siblings.stream()
                                .flatMap(other -> rate.apply(other).asOptional().stream())
                                .toList()));
    }

    /** Adds a part for a result that is absent or that proves nothing. */
    private static void without(FindingBuilder builder, Reading<?> reading, ResultVerdict verdict) {
        if (reading instanceof Reading.Absent<?> absent) {
            unmeasured(builder, absent);
        } else {
            RepeatedWrongNotes.addUndecided(builder, verdict);
        }
    }

    /** Returns what computed DGEMM, since its rate depends on that. */
    private static String producer(Reading<ProductResult> product) {
        return product.asOptional()
                .map(ProductResult::producer)
                .map(producer -> "; DGEMM by " + producer.name()
                        + producer.why().map(why -> ", because " + why).orElse(""))
                .orElse("");
    }

    private static void values(FindingBuilder builder, Measured measured) {
        measured.memory()
                .asOptional()
                .ifPresent(test -> builder.evidence(
                        new Measurement("memory_tested_mebibytes", test.bytes() / (double) MEBIBYTE, "")));
        measured.bandwidth()
                .asOptional()
                .ifPresent(rate -> builder.evidence(limit(builder, measured)
                        .map(limit -> LimitText.atLeast("daxpy_gigabytes_per_second", rate, limit))
                        .orElse(new Measurement("daxpy_gigabytes_per_second", rate, ""))));
        measured.rate()
                .asOptional()
                .ifPresent(rate -> builder.evidence(new Measurement("dgemm_teraflops_per_second", rate, "")));
    }
}
