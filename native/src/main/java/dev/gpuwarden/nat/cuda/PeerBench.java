package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.core.port.ComputeDriver.PeerRate;

/** A measurement of copies from the current context's GPU to another one. */
final class PeerBench implements CudaContext.Work<PeerRate> {

    private final int peer;
    private final CopyWork work;
    private final Rendezvous start;
    private final Rendezvous end;

    /**
     * Creates a measurement.
     *
     * @param peer the CUdevice of the target
     * @param end of all pairs: memory of a GPU is given back only then, since that waits for the GPU's own copies
     */
    PeerBench(int peer, CopyWork work, Rendezvous start, Rendezvous end) {
        this.peer = peer;
        this.work = work;
        this.start = start;
        this.end = end;
    }

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
        long to;
        library.require(CudaSymbol.CONTEXT_SET, target);
        try {
            to = resources.memory(work.bytes());
        } finally {
            library.call(CudaSymbol.CONTEXT_SET, source);
        }
        boolean direct = (int) resources.ask(CudaSymbol.CAN_ACCESS_PEER, resources.device(), peer) != 0;
        if (direct) {
            int result = library.call(CudaSymbol.ENABLE_PEER, target, 0);
            if (result != CudaResult.PEER_ACCESS_ALREADY_ENABLED) {
                CudaLibrary.check(CudaSymbol.ENABLE_PEER, result);
            }
        }
        RepeatedCopy copies = new RepeatedCopy(library, new Stopwatch(resources, stream), work);
        start.arriveAndWait();
        double rate = copies.rate(CudaSymbol.COPY_TO_PEER, to, target, from, source, work.bytes(), stream);
        end.arriveAndWait();
        if (!Double.isFinite(rate) || rate <= 0) {
            throw new NoResult(Absence.IMPLAUSIBLE, rate + " bytes a second");
        }
        return new PeerRate(rate, direct);
    }
}
