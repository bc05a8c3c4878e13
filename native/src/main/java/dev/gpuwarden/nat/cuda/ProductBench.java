package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.ExpectedProduct;
import dev.gpuwarden.core.compute.ProductKind;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductResult.Round;
import dev.gpuwarden.core.compute.ProductWork;
import dev.gpuwarden.core.compute.Rates;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.nat.cuda.CublasLibrary.CublasException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A measurement of products (dgemm.cu, wmma.cu). Each product is compared with its closed form, and has a digest. */
record ProductBench(ProductWork work, Cublas cublas, Rendezvous start, StopSignal stop)
        implements CudaContext.Work<ProductResult> {

    /** Each cell begins as a NaN, so that a product that was not computed shows. */
    private static final int NAN = 0xff;

    /** A result has no list of all places that were searched. */
    private static final String NOT_FOUND = "no cuBLAS was found; 'gpuwarden doctor' has the places";

    /** The address of no SMs: a library does not record its own. */
    private static final long NO_SM = 0;

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
        Kernel kernel = space.kernel(module, kind == ProductKind.FP64 ? "dgemm" : "wmma_product");
        Kernel verify = space.kernel(module, name + "_verify");
        DigestReader digest = new DigestReader(resources, space, work.cells() * kind.cellBytes() / Long.BYTES);
        long a = factor(resources, space.kernel(module, name + "_fill"), 0);
        long b = factor(resources, space.kernel(module, name + "_fill"), 1);
        long c = resources.memory(work.cells() * kind.cellBytes());
        long sm = resources.memory(Long.BYTES * blocks);
        ErrorPlanter planter = new ErrorPlanter(resources, space.stream(), new SplittableRandom());
        ExpectedProduct expected = ExpectedProduct.of(kind, work.n(), work.seed());
        Comparing comparing = writers -> planter.compared(
                new ErrorPlanter.Elements(c, kind.cellBytes(), work.cells(), n * kind.tileRows(), 0),
                expected::cell,
                () -> verified(space, verify, c, writers));
        Product own = () -> kernel.launch(blocks, a, b, c, n, sm);
        Rounds measure = (product, writers, before) -> rounds(space, product, comparing, digest, c, writers, before);
        if (!work.byLibrary() || kind != ProductKind.FP64) {
            start.arriveAndWait();
            return measure.of(own, sm, Verification.NOTHING);
        }
        String why;
        Reading<CublasHandle> opened = opened(space, a, b, c);
        Verification first = opened.asOptional().isPresent() ? comparing.of(NO_SM) : Verification.NOTHING;
        start.arriveAndWait();
        if (opened instanceof Reading.Present<CublasHandle> present) {
            try (CublasHandle handle = present.value()) {
                return measure.of(() -> handle.multiply(n, a, b, c), NO_SM, first)
                        .by(handle.library(), Optional.empty());
            } catch (CublasException e) {
                why = String.valueOf(e.getMessage());
            }
        } else {
            why = ((Reading.Absent<CublasHandle>) opened).detail();
        }
        return measure.of(own, sm, Verification.NOTHING).by(ProductResult.OWN_KERNEL, Optional.of(why));
    }

    /** Returns the library after its first product, for which it loads its own kernels. */
    private Reading<CublasHandle> opened(Workspace space, long a, long b, long c) throws CudaException {
        Reading<CublasLibrary> library = cublas.library();
        if (library instanceof Reading.Absent<CublasLibrary> none) {
            String why = none.cause() == Absence.NOT_SUPPORTED ? NOT_FOUND : none.detail();
            return Reading.absent(none.cause(), none.code(), why);
        }
        @Nullable CublasHandle handle = null;
        try {
            handle = CublasHandle.open(library.asOptional().orElseThrow(), space.stream());
            space.fill(c, NAN, work.cells() * work.kind().cellBytes());
            handle.multiply(work.n(), a, b, c);
            space.stopwatch().await();
            CublasHandle ready = handle;
            handle = null;
            return Reading.of(ready);
        } catch (CublasException e) {
            return Reading.absent(Absence.FAILED, 0, String.valueOf(e.getMessage()));
        } finally {
            if (handle != null) {
                handle.close();
            }
        }
    }

    /** A product that is enqueued on the stream. */
    private interface Product {
        void enqueue() throws CudaException;
    }

    /** The comparison of the product with its closed form, with a planted error. */
    private interface Comparing {
        Verification of(long sm) throws CudaException;
    }

    private interface Rounds {
        ProductResult of(Product product, long sm, Verification before) throws CudaException;
    }

    /**
     * Returns the measured products.
     *
     * @param sm where the product stores the SM of each block; {@link #NO_SM} if it does not
     * @param before the verification of products that were not measured, which counts for the first round
     */
    private ProductResult rounds(
            Workspace space,
            Product product,
            Comparing comparing,
            DigestReader digest,
            long c,
            long sm,
            Verification before)
            throws CudaException {
        List<Round> rounds = new ArrayList<>();
        double seconds = 0;
        for (int i = 0; i < work.rounds(); i++) {
            stop.check();
            space.fill(c, NAN, work.cells() * work.kind().cellBytes());
            double taken = space.stopwatch().seconds(product::enqueue);
            seconds += taken;
            Verification own = comparing.of(sm);
            Verification verification = i == 0 ? before.and(own) : own;
            rounds.add(new Round(rate(taken, 1), digest.of(c), sm == NO_SM ? verification.withoutSms() : verification));
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
