package dev.gpuwarden.daemon.check.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.GpuLoad;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.ExpectedProduct;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.daemon.check.gpu.GrowingWork.Sized;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The same product of FP16 matrices on the tensor cores of every GPU, several times: each bit must be that of the closed
 * form, which the host computes. A wrong result names GPU, SM and the first wrong element. A GPU whose rate falls behind
 * equal boards is named too.
 */
@AutoService(HealthCheck.class)
public final class GpuResultsCheck extends ComputeCheck<GpuResultsCheck.Measured> {

    private static final Duration DEADLINE = Duration.ofMinutes(10);
    private static final Duration WORK_DEADLINE = Duration.ofMinutes(1);
    private static final long SEED = 7;
    private static final int ROUNDS = 4;
    private static final List<ProductWork> SIZES = IntStream.of(128, 256, 512, 1024, 2048, 4096, 8192)
            .mapToObj(n -> new ProductWork(ProductKind.MIXED, n, ROUNDS, SEED, WORK_DEADLINE))
            .toList();

    /**
     * The result of one GPU.
     *
     * @param expected the digest of the right product
     */
    record Measured(ProductResult product, Digest expected) {
        double rate() {
            return product.operationsPerSecond() / 1e12;
        }
    }

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-results", "GPU", "Every GPU computes the same right results, as fast as equal boards.")
                .every(Duration.ofHours(4))
                .damped(1, 3);
    }

    @Override
    public Duration deadline() {
        return DEADLINE;
    }

    @Override
    public GpuLoad load() {
        return GpuLoad.INVASIVE;
    }

    @Override
    List<Reading<Measured>> measure(Work given) {
        ComputeDriver driver = given.driver();
        List<String> uuids = given.uuids();
        List<Sized<ProductWork, ProductResult>> results = new GrowingWork(System::nanoTime)
                .run(
                        SIZES,
                        work -> driver.measureProducts(uuids, work, given.stopped()),
                        result -> result.verification().isRight());
        Map<ProductWork, Digest> expected = new HashMap<>();
        return results.stream()
                .map(sized -> sized.result()
                        .map(product -> new Measured(
                                product,
                                expected.computeIfAbsent(
                                        sized.work(), work -> ExpectedProduct.digest(work.kind(), work.n(), SEED)))))
                .toList();
    }

    @Override
    void evaluateIncomplete(FindingBuilder builder, Measured measured) {
        ResultVerdict verdict =
                verdict("tensor cores", builder, Reading.of(measured.product()), Optional.of(measured.expected()));
        if (verdict.outcome() == ResultVerdict.Outcome.WRONG) {
            RepeatedWrongNotes.add(builder, List.of(verdict));
        }
    }

    @Override
    void evaluate(FindingBuilder builder, Measured measured, List<Measured> siblings) {
        RepeatedWrongNotes.add(
                builder,
                List.of(verdict(
                        "tensor cores", builder, Reading.of(measured.product()), Optional.of(measured.expected()))));
        builder.pass("gpu-results-right", measured.product().rounds().size() + " products are right in every bit");
        Straggling.add(
                builder,
                "tensor cores",
                "TFLOP/s",
                measured.rate(),
                siblings.stream().map(Measured::rate).toList());
        builder.evidence(new Measurement("mixed_precision_teraflops_per_second", measured.rate(), ""));
    }
}
