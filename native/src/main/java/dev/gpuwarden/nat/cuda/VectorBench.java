package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.ExpectedElements;
import dev.gpuwarden.core.compute.Rates;
import dev.gpuwarden.core.compute.VectorResult;
import dev.gpuwarden.core.compute.VectorWork;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.model.Absence;
import java.util.OptionalDouble;
import java.util.SplittableRandom;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;

/** A measurement of y = a x + y (daxpy.cu). The first round is not measured: it begins with an idle GPU. */
final class VectorBench implements CudaContext.Work<VectorResult> {

    /** An integer, so that all results are exact. */
    private static final double FACTOR = 3;

    /** Rounds between two questions for the end. */
    private static final int BATCH = 20;

    private final VectorWork work;
    private final Rendezvous start;
    private final StopSignal stop;
    private final RandomGenerator random = new SplittableRandom();

    VectorBench(VectorWork work, Rendezvous start, StopSignal stop) {
        this.work = work;
        this.start = start;
        this.stop = stop;
    }

    @Override
    public VectorResult run(CudaLibrary library) throws CudaException {
        try (Resources resources = new Resources(library)) {
            return measured(resources);
        }
    }

    private VectorResult measured(Resources resources) throws CudaException {
        Workspace space = new Workspace(resources);
        KernelModule module = new KernelModule(resources, "daxpy");
        Kernel daxpy = space.kernel(module, "daxpy");
        Kernel verify = space.kernel(module, "daxpy_verify");
        long count = work.count();
        long per = Workspace.PER_BLOCK;
        long blocks = Workspace.blocks(count);
        long x = resources.memory(Double.BYTES * count);
        long y = resources.memory(Double.BYTES * count);
        long sm = resources.memory(Long.BYTES * blocks);
        HostWitness witness = new HostWitness(resources, space, count, random);
        long factor = Double.doubleToRawLongBits(FACTOR);
        OptionalDouble limit = Rates.memoryLimit(
                resources.attribute(CudaConstant.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE),
                resources.attribute(CudaConstant.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
        start.arriveAndWait();

        space.kernel(module, "daxpy_fill").launch(blocks, x, y, count, per, work.seed(), 0);
        daxpy.launch(blocks, factor, x, y, count, per, sm);
        double seconds = 0;
        for (int done = 0; done < work.rounds(); done += BATCH) {
            stop.check();
            int rounds = Math.min(BATCH, work.rounds() - done);
            seconds += space.stopwatch().seconds(() -> {
                for (int i = 0; i < rounds; i++) {
                    daxpy.launch(blocks, factor, x, y, count, per, sm);
                }
            });
        }
        double rate = work.rounds() * (double) work.bytesPerRound() / seconds;
        if (!Rates.isPlausibleMemory(rate, limit, work.bytesPerRound())) {
            throw new NoResult(Absence.IMPLAUSIBLE, rate + " bytes a second");
        }
        long rounds = work.rounds() + 1L;
        LongUnaryOperator expected = ExpectedElements.vector(work.seed(), rounds, FACTOR);
        Verification verification = new ErrorPlanter(resources, space.stream(), random)
                .compared(new ErrorPlanter.Elements(y, Double.BYTES, count, per, 0), expected, () -> {
                    space.report().clear();
                    long report = space.report().address();
                    verify.launch(blocks, y, count, per, work.seed(), rounds, factor, sm, per, per, 1, report);
                    space.stopwatch().await();
                    return space.report().read(count, 0);
                });
        return new VectorResult(rate, verification, witness.of(y, expected));
    }
}
