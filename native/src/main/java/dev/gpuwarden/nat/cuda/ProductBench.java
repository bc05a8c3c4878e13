package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductResult.Round;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.Rates;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.model.Absence;
import java.util.ArrayList;
import java.util.List;

/** A measurement of products (dgemm.cu, wmma.cu). Each product is compared with its closed form, and has a digest. */
final class ProductBench implements CudaContext.Work<ProductResult> {

    /** Each cell begins as a NaN, so that a product that was not computed shows. */
    private static final int NAN = 0xff;

    private final ProductWork work;
    private final Rendezvous start;
    private final StopSignal stop;

    ProductBench(ProductWork work, Rendezvous start, StopSignal stop) {
        this.work = work;
        this.start = start;
        this.stop = stop;
    }

    @Override
    public ProductResult run(CudaLibrary library) throws CudaException {
        try (Resources resources = new Resources(library)) {
            return measured(resources);
        }
    }

    private ProductResult measured(Resources resources) throws CudaException {
        ProductKind kind = work.kind();
        long n = work.n();
        long blocks = n / kind.tileRows() * (n / kind.tileColumns());
        Workspace space = new Workspace(resources);
        String name = kind == ProductKind.FP64 ? "dgemm" : "wmma";
        KernelModule module = new KernelModule(resources, name);
        Kernel product = space.kernel(module, kind == ProductKind.FP64 ? "dgemm" : "wmma_product");
        Kernel verify = space.kernel(module, name + "_verify");
        DigestReader digest = new DigestReader(resources, space, work.cells() * kind.cellBytes() / Long.BYTES);
        long a = factor(resources, space.kernel(module, name + "_fill"), 0);
        long b = factor(resources, space.kernel(module, name + "_fill"), 1);
        long c = resources.memory(work.cells() * kind.cellBytes());
        long sm = resources.memory(Long.BYTES * blocks);
        start.arriveAndWait();

        List<Round> rounds = new ArrayList<>();
        double seconds = 0;
        for (int i = 0; i < work.rounds(); i++) {
            stop.check();
            space.fill(c, NAN, work.cells() * kind.cellBytes());
            double taken = space.stopwatch().seconds(() -> product.launch(blocks, a, b, c, n, sm));
            seconds += taken;
            Verification verification = verified(space, verify, c, sm);
            rounds.add(new Round(rate(taken, 1), digest.of(c), verification));
        }
        return new ProductResult(rate(seconds, work.rounds()), rounds);
    }

    private long factor(Resources resources, Kernel fill, long side) throws CudaException {
        long cells = resources.memory(work.cells() * work.kind().factorBytes());
        fill.launch(
                Workspace.blocks(work.cells()),
                cells,
                work.n(),
                work.cells(),
                Workspace.PER_BLOCK,
                work.seed(),
                side,
                0);
        return cells;
    }

    private Verification verified(Workspace space, Kernel verify, long c, long sm) throws CudaException {
        space.report().clear();
        verify.launch(
                Workspace.blocks(work.cells()),
                c,
                work.n(),
                work.cells(),
                Workspace.PER_BLOCK,
                work.seed(),
                sm,
                work.n(),
                work.kind().tileColumns(),
                work.kind().tileRows(),
                space.report().address());
        space.stopwatch().await();
        return space.report().read(work.cells(), 0);
    }

    private double rate(double seconds, int rounds) {
        double rate = rounds * work.operationsPerRound() / seconds;
        if (!Rates.isPlausibleProduct(rate)) {
            throw new NoResult(Absence.IMPLAUSIBLE, rate + " operations a second");
        }
        return rate;
    }
}
