package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.core.port.ComputeDriver.PeerRate;
import java.util.SplittableRandom;

/**
 * A measurement of copies from the current context's GPU to another one. The host compares the data that arrived with what it wrote.
 *
 * @param peer the CUdevice of the target
 * @param end of all pairs: memory of a GPU is read and given back only then, since both delay the GPU's own copies
 */
record PeerBench(int peer, CopyWork work, Rendezvous start, Rendezvous end) implements CudaContext.Work<PeerRate> {

    @Override
    public PeerRate run(CudaLibrary library) throws CudaException {
        try (Resources resources = new Resources(library)) {
            return measured(resources);
        }
    }

    private PeerRate measured(Resources resources) throws CudaException {
        CudaLibrary library = resources.library();
        long stream = resources.stream();
        long source = resources.ask(CudaSymbol.CONTEXT_CURRENT);
        long from = resources.memory(work.bytes());
        long target = resources.context(peer);
        long to = within(library, target, source, () -> resources.memory(work.bytes()));
        boolean direct = (int) resources.ask(CudaSymbol.CAN_ACCESS_PEER, resources.device(), peer) != 0;
        if (direct) {
            int result = library.call(CudaSymbol.ENABLE_PEER, target, 0);
            if (result != CudaResult.PEER_ACCESS_ALREADY_ENABLED) {
                CudaLibrary.check(CudaSymbol.ENABLE_PEER, result);
            }
        }
        WrittenData data = new WrittenData(new SplittableRandom().nextLong());
        PieceCopies pieces = new PieceCopies(resources, stream, work.bytes());
        pieces.write(from, data);
        RepeatedCopy copies = new RepeatedCopy(library, new Stopwatch(resources, stream), work);
        start.arriveAndWait();
        double rate = copies.rate(CudaSymbol.COPY_TO_PEER, to, target, from, source, work.bytes(), stream);
        end.arriveAndWait();
        within(library, target, source, () -> {
            pieces.compare(to, data);
            return 0L;
        });
        if (!Double.isFinite(rate) || rate <= 0) {
            throw new NoResult(Absence.IMPLAUSIBLE, rate + " bytes a second");
        }
        return new PeerRate(rate, direct, data.result());
    }

    /** Work in another context. */
    private interface Within {
        long run() throws CudaException;
    }

    private static long within(CudaLibrary library, long context, long before, Within work) throws CudaException {
        library.require(CudaSymbol.CONTEXT_SET, context);
        try {
            return work.run();
        } finally {
            library.call(CudaSymbol.CONTEXT_SET, before);
        }
    }
}
