package dev.gpuwarden.checks.gpu;

import com.google.auto.service.AutoService;
import dev.gpuwarden.checks.gpu.GrowingWork.Sized;
import dev.gpuwarden.checks.gpu.RepeatedWork.Repetition;
import dev.gpuwarden.core.check.CheckInfo;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * The same product of FP16 matrices on the tensor cores of every GPU, immediately and after it has worked: each bit must be
 * that of the closed form, which the host computes. A wrong result names GPU, SM and the first wrong element. A GPU whose rate falls behind
 * equal boards is named too.
 */
@AutoService(HealthCheck.class)
public final class GpuResultsCheck extends ComputeCheck<GpuResultsCheck.Measured> {

    private static final long SEED = 7;
    private static final int ROUNDS = 4;

    /** Wrong repetitions that a finding has: the first one, and one at another temperature. */
    private static final int MOST_WRONG = 2;

    private static final List<ProductWork> SIZES = IntStream.of(128, 256, 512, 1024, 2048, 4096, 8192)
            .mapToObj(n -> new ProductWork(ProductKind.MIXED, n, ROUNDS, SEED, WORK_DEADLINE))
            .toList();

    /** Long enough for a degree more on a GPU that still becomes warm. */
    private static final Duration LEVEL = Duration.ofSeconds(1);

    private final Duration level;
    private final Runnable afterCold;

    /** For the class path. */
    public GpuResultsCheck() {
        this(LEVEL, () -> {});
    }

    /**
     * @param level see {@link RepeatedWork}
     * @param afterCold runs between the first repetition and the further ones
     */
    GpuResultsCheck(Duration level, Runnable afterCold) {
        this.level = level;
        this.afterCold = afterCold;
    }

    /**
     * The results of one GPU.
     *
     * @param cold the first repetition
     * @param warm those after the GPU has worked: the first wrong one and the last one; empty if none ended
     * @param expected the digest of the right product
     */
    record Measured(Repetition<ProductResult> cold, List<Repetition<ProductResult>> warm, Digest expected) {

        double coldRate() {
            return rate(cold);
        }

        Optional<Double> warmRate() {
            return warm.isEmpty() ? Optional.empty() : Optional.of(rate(warm.get(warm.size() - 1)));
        }

        private static double rate(Repetition<ProductResult> repetition) {
            return repetition.result().operationsPerSecond() / 1e12;
        }
    }

    @Override
    public CheckInfo info() {
        return CheckInfo.of("gpu-results", "GPU", "Every GPU computes the same right results, as fast as equal boards.")
                .every(Duration.ofHours(4))
                .damped(1, 3);
    }

    @Override
    List<Reading<Measured>> measure(Work<Measured> given) {
        ComputeDriver driver = given.driver();
        List<String> uuids = given.uuids();
        given.reports().progress("products on cold GPUs", 0, 2);
        Predicate<ProductResult> right = result -> result.verification().isRight();
        Map<ProductWork, Digest> digests = new HashMap<>();
        Function<ProductWork, Digest> expected =
                work -> digests.computeIfAbsent(work, any -> ExpectedProduct.digest(any.kind(), any.n(), SEED));
        List<Sized<ProductWork, Repetition<ProductResult>>> cold = new GrowingWork(System::nanoTime)
                .run(SIZES, work -> first(given, work, right, expected), repetition -> right.test(repetition.result()));
        afterCold.run();
        given.reports().progress("products while the GPUs become warm", 1, 2);
        List<List<Repetition<ProductResult>>> warm = new RepeatedWork(System::nanoTime, level)
                .run(
                        cold.stream()
                                .map(sized -> sized.result().asOptional().map(unused -> sized.work()))
                                .toList(),
                        (work, gpus) -> driver.measureProducts(
                                gpus.stream().map(uuids::get).toList(), work, given.stopped()),
                        given.celsius(),
                        given.stopped(),
                        right,
                        (gpu, wrong) -> given.soFar(
                                gpu,
                                new Measured(
                                        wrong,
                                        List.of(),
                                        expected.apply(cold.get(gpu).work()))));
        List<Reading<Measured>> all = new ArrayList<>();
        for (int i = 0; i < uuids.size(); i++) {
            Sized<ProductWork, Repetition<ProductResult>> sized = cold.get(i);
            List<Repetition<ProductResult>> further = warm.get(i);
            all.add(sized.result().map(first -> new Measured(first, further, expected.apply(sized.work()))));
        }
        return all;
    }

    /** Returns the products of all GPUs, immediately. The digest of a right one costs the host time, so only a wrong one is judged now. */
    private static List<Reading<Repetition<ProductResult>>> first(
            Work<Measured> given,
            ProductWork work,
            Predicate<ProductResult> right,
            Function<ProductWork, Digest> expected) {
        List<Reading<ProductResult>> products = given.driver().measureProducts(given.uuids(), work, given.stopped());
        List<Reading<Long>> celsius = given.celsius().get();
        List<Reading<Repetition<ProductResult>>> all = new ArrayList<>();
        for (int i = 0; i < products.size(); i++) {
            int gpu = i;
            Reading<Repetition<ProductResult>> first =
                    products.get(i).map(product -> new Repetition<>(product, celsius.get(gpu), Duration.ZERO));
            first.asOptional()
                    .filter(repetition -> !right.test(repetition.result()))
                    .ifPresent(wrong -> given.soFar(gpu, new Measured(wrong, List.of(), expected.apply(work))));
            all.add(first);
        }
        return all;
    }

    @Override
    void evaluateIncomplete(FindingBuilder builder, Measured measured) {
        RepeatedWrongNotes.addWrong(builder, verdicts(builder, measured));
    }

    @Override
    void evaluate(FindingBuilder builder, Measured measured, List<Measured> siblings) {
        List<ResultVerdict> verdicts = verdicts(builder, measured);
        RepeatedWrongNotes.add(builder, verdicts);
        verdicts.forEach(verdict -> RepeatedWrongNotes.addUndecided(builder, verdict));
        builder.evidence(new Measurement("mixed_precision_teraflops_per_second", measured.coldRate(), ""));
        measured.warmRate()
                .ifPresent(rate ->
                        builder.evidence(new Measurement("warm_mixed_precision_teraflops_per_second", rate, "")));
        builder.pass("gpu-results-right", "each product is right in every bit, " + temperatures(measured));
        Straggling.add(
                builder,
                "tensor cores",
                "TFLOP/s",
                measured.coldRate(),
                siblings.stream().map(Measured::coldRate).toList());
        measured.warmRate()
                .ifPresent(rate -> Straggling.add(
                        builder,
                        "tensor cores after work",
                        "TFLOP/s",
                        rate,
                        siblings.stream()
                                .flatMap(other -> other.warmRate().stream())
                                .toList()));
    }

    /** Returns the verdicts on wrong repetitions, or the one on the first if all are right: a run without a wrong result counts once. */
    private static List<ResultVerdict> verdicts(FindingBuilder builder, Measured measured) {
        List<Repetition<ProductResult>> all = new ArrayList<>(List.of(measured.cold()));
        all.addAll(measured.warm());
        List<ResultVerdict> verdicts = all.stream()
                .map(repetition -> verdict(builder, repetition, measured.expected()))
                .toList();
        List<ResultVerdict> wrong =
                verdicts.stream().filter(ResultVerdict::accuses).toList();
        return wrong.isEmpty() ? verdicts.subList(0, 1) : wrong.subList(0, Math.min(MOST_WRONG, wrong.size()));
    }

    /** Returns a verdict whose text has the temperature, and whose key has not: the sizes of the growth count as one work. */
    private static ResultVerdict verdict(
            FindingBuilder builder, Repetition<ProductResult> repetition, Digest expected) {
        ResultVerdict verdict = verdict(
                "tensor cores " + at(repetition), builder, Reading.of(repetition.result()), Optional.of(expected));
        return new ResultVerdict(
                "tensor cores after " + repetition.after(), verdict.outcome(), verdict.wrongRuns(), verdict.text());
    }

    /** Returns "at 41 C, immediately" or "at 78 C, after 12.5 s of work". */
    private static String at(Repetition<ProductResult> repetition) {
        String degrees = repetition
                .celsius()
                .asOptional()
                .map(celsius -> "at " + celsius + " C")
                .orElse("at an unknown temperature");
        return degrees
                + (repetition.after().isZero()
                        ? ", immediately"
                        : String.format(
                                Locale.ROOT,
                                ", after %.1f s of work",
                                repetition.after().toMillis() / 1e3));
    }

    private static String temperatures(Measured measured) {
        List<Repetition<ProductResult>> warm = measured.warm();
        return at(measured.cold()) + (warm.isEmpty() ? "" : " and " + at(warm.get(warm.size() - 1)));
    }
}
