package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;

/**
 * A measurement of copies between pinned memory of the host and a GPU. Copies are enqueued back to back on one stream, and events of the
 * GPU measure their time, so that neither the host's clock nor the cost of a call is part of the rate. The host compares the data that
 * comes back with what it wrote.
 */
record CopyBench(CopyWork work, Rendezvous start) implements CudaContext.Work<CopyRates> {

    // cuda.h 13.0: no flag of cuMemHostAlloc.
    private static final int DEFAULT = 0;

    @Override
    public CopyRates run(CudaLibrary library) throws CudaException {
        try (Resources resources = new Resources(library)) {
            long stream = resources.stream();
            long device = resources.memory(work.bytes());
            long host = resources.take(CudaSymbol.HOST_ALLOCATE, CudaSymbol.HOST_FREE, work.bytes(), DEFAULT);
            RepeatedCopy copies = new RepeatedCopy(library, new Stopwatch(resources, stream), work);
            ByteBuffer content = NativeMemory.view(host, work.bytes());
            WrittenData data = new WrittenData(new SplittableRandom().nextLong());
            data.write(content, 0);
            start.arriveAndWait();
            double toDevice = copies.rate(CudaSymbol.COPY_TO_DEVICE, device, host, work.bytes(), stream);
            // A copy back that does nothing must not find the data in place.
            new WrittenData(0).write(content, 0);
            double toHost = copies.rate(CudaSymbol.COPY_TO_HOST, host, device, work.bytes(), stream);
            data.compare(content, 0, work.bytes());
            return new CopyRates(toDevice, toHost, data.result());
        }
    }
}
