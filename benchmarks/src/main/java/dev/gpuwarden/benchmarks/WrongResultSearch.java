package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.SuppressForbidden;
import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.EqualBoard;
import dev.gpuwarden.core.compute.EqualWork;
import dev.gpuwarden.core.compute.ExpectedProduct;
import dev.gpuwarden.core.compute.MemoryPattern;
import dev.gpuwarden.core.compute.MemoryResult;
import dev.gpuwarden.core.compute.MemoryWork;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.ResultVerdict;
import dev.gpuwarden.core.compute.ResultVerdict.Outcome;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.compute.WrongResults;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Provider;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * A search for false alarms and misses of the measurements that verify results, on eight simulated GPUs. Runs without a fault must give no
 * verdict but RIGHT. Each planted pattern must be found on its GPU, attributed to its SM, and on no other GPU.
 */
final class WrongResultSearch {

    private static final Duration DEADLINE = Duration.ofMinutes(5);
    private static final int VECTOR_ELEMENTS = 1_000_000;
    private static final int PRODUCT_N = 256;
    private static final int PRODUCT_ROUNDS = 16;
    private static final List<String> PATTERNS = List.of("bit", "bits", "fragment", "lane", "nan", "neighbour");

    private final SimulatedNode node;
    private final ComputeDriver driver;
    private final Random random;
    private final List<String> failures = new ArrayList<>();

    WrongResultSearch(SimulatedNode node, long seed) {
        this.node = node;
        this.random = new Random(seed);
        ComputeProvider provider = Provider.of(ComputeProvider.class);
        Opening<ComputeDriver> opening =
                provider.open(new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO));
        if (!(opening instanceof Opened<ComputeDriver> opened)) {
            throw new IllegalStateException(opening.toString());
        }
        this.driver = opened.driver();
    }

    /** A measurement of about a million elements, and the blocks of the launch that computes wrong. */
    enum Kind {
        VECTORS("daxpy", 62),
        MEMORY("pattern_fill", 64),
        FP64("dgemm", 16),
        MIXED("wmma_product", 8);

        private final String kernel;
        private final int blocks;

        Kind(String kernel, int blocks) {
            this.kernel = kernel;
            this.blocks = blocks;
        }
    }

    /** The verdict on one GPU, and its verification. */
    private record Judged(ResultVerdict verdict, Verification verification) {}

    /** Returns the runs that gave another verdict than expected, in words. */
    List<String> failures() {
        return failures;
    }

    int gpus() {
        return driver.gpus().size();
    }

    /** Measures all GPUs without a fault. */
    void clean(Kind kind) {
        List<Judged> judged = measured(kind);
        for (int gpu = 0; gpu < judged.size(); gpu++) {
            expect(judged.get(gpu).verdict(), Outcome.RIGHT, "clean " + kind + " on GPU " + gpu);
        }
    }

    /** Measures all GPUs while one of them computes wrong in an SM by chance. */
    void planted(Kind kind, String pattern, int wrong) {
        int sm = random.nextInt(kind.blocks);
        String key = "gpu." + wrong + ".cuda.wrong.";
        node.set(key + "kernel", kind.kernel);
        node.set(key + "sm", Integer.toString(sm));
        node.set(key + "pattern", pattern);
        List<Judged> judged = measured(kind);
        node.set(key + "pattern", "none");
        String what = pattern + " in SM " + sm + " of GPU " + wrong + ", " + kind;
        for (int gpu = 0; gpu < judged.size(); gpu++) {
            expect(judged.get(gpu).verdict(), gpu == wrong ? Outcome.WRONG : Outcome.RIGHT, what);
        }
        Optional<Integer> named = judged.get(wrong).verification().worstSm();
        if (!named.equals(Optional.of(sm))) {
            failures.add(what + ": attributed to " + named);
        }
    }

    private void expect(ResultVerdict verdict, Outcome expected, String what) {
        if (verdict.outcome() != expected) {
            failures.add(what + ": expected " + expected + ", seen " + verdict);
        }
    }

    private List<Judged> measured(Kind kind) {
        long seed = random.nextLong();
        return switch (kind) {
            case VECTORS -> vectors(new VectorWork(VECTOR_ELEMENTS, 1, seed, DEADLINE));
            case MEMORY ->
                memory(new MemoryWork(
                        1,
                        0,
                        8L << 20,
                        8L << 20,
                        List.of(MemoryPattern.ADDRESS, MemoryPattern.RANDOM),
                        seed,
                        DEADLINE));
            case FP64 -> products(new ProductWork(ProductKind.FP64, PRODUCT_N, PRODUCT_ROUNDS, seed, DEADLINE));
            case MIXED -> products(new ProductWork(ProductKind.MIXED, PRODUCT_N, PRODUCT_ROUNDS, seed, DEADLINE));
        };
    }

    private List<Judged> vectors(VectorWork work) {
        return driver.measureVectors(driver.gpus(), work, () -> false).stream()
                .map(reading -> new Judged(
                        WrongResults.ofVectors("GPU", reading),
                        reading.map(VectorResult::verification).asOptional().orElse(Verification.NOTHING)))
                .toList();
    }

    private List<Judged> memory(MemoryWork work) {
        return driver.testMemory(driver.gpus(), work, () -> false).stream()
                .map(reading -> new Judged(
                        WrongResults.ofMemory("GPU", reading),
                        reading.asOptional().stream()
                                .map(MemoryResult::patterns)
                                .flatMap(List::stream)
                                .map(MemoryResult.PatternResult::verification)
                                .reduce(Verification.NOTHING, Verification::and)))
                .toList();
    }

    private List<Judged> products(ProductWork work) {
        List<Reading<ProductResult>> readings = driver.measureProducts(driver.gpus(), work, () -> false);
        Digest expected = ExpectedProduct.digest(work.kind(), work.n(), work.seed());
        EqualBoard board = new EqualBoard(
                "H100",
                Reading.absent(Absence.NO_DATA),
                Reading.absent(Absence.NO_DATA),
                Reading.absent(Absence.NO_DATA));
        List<ResultVerdict> verdicts = EqualWork.judge(
                readings.stream()
                        .map(reading -> new EqualWork.Part("GPU", board, reading))
                        .toList(),
                Optional.of(expected));
        return IntStream.range(0, readings.size())
                .mapToObj(i -> new Judged(
                        verdicts.get(i),
                        readings.get(i)
                                .map(ProductResult::verification)
                                .asOptional()
                                .orElse(Verification.NOTHING)))
                .toList();
    }

    /** Arguments: runs without a fault, seed. */
    @SuppressForbidden("a program of its own: prints its result")
    public static void main(String[] args) {
        PrintStream out = System.out;
        int runs = Integer.parseInt(args[0]);
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            WrongResultSearch search = new WrongResultSearch(node, Long.parseLong(args[1]));
            int clean = 0;
            for (; clean < runs; clean += search.gpus()) {
                search.clean(Kind.values()[clean / search.gpus() % Kind.values().length]);
            }
            out.printf(
                    "%d runs of a million elements without a fault: %d false alarms%n",
                    clean, search.failures().size());
            int before = search.failures().size();
            int planted = 0;
            for (int gpu = 0; gpu < search.gpus(); gpu++) {
                for (String pattern : PATTERNS) {
                    for (Kind kind : Kind.values()) {
                        search.planted(kind, pattern, gpu);
                        planted++;
                    }
                }
            }
            out.printf(
                    "%d planted faults, each with %d healthy GPUs beside it: %d misses, wrong attributions and false alarms%n",
                    planted, search.gpus() - 1, search.failures().size() - before);
            search.failures().forEach(out::println);
            if (!search.failures().isEmpty()) {
                throw new IllegalStateException(
                        "expected no failure, seen " + search.failures().size());
            }
        }
    }
}
