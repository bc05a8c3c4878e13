package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;

/**
 * A measurement of copies between pinned memory of the host and a GPU. Copies are enqueued back to back on one stream, and events of the
 * GPU measure their time, so that neither the host's clock nor the cost of a call is part of the rate.
 */
final class CopyBench implements CudaContext.Work<CopyRates> {

    /** Bound on copies in one measurement, for copies that seem to take no time. */
    private static final int MOST_COPIES = 100_000;

    // cuda.h 13.0: no flag of cuMemHostAlloc.
    private static final int DEFAULT = 0;

    private final CopyWork work;
    private final StartLine start;

    CopyBench(CopyWork work, StartLine start) {
        this.work = work;
        this.start = start;
    }

    @Override
    public CopyRates run(CudaLibrary library) throws CudaException {
        try (Resources resources = new Resources(library)) {
            long stream = resources.stream();
            long device = resources.memory(work.bytes());
            long host = resources.take(CudaSymbol.HOST_ALLOCATE, CudaSymbol.HOST_FREE, work.bytes(), DEFAULT);
            Copies copies = new Copies(library, stream, new Stopwatch(resources, stream), work.bytes());
            start.arriveAndWait();
            return new CopyRates(
                    rate(copies, CudaSymbol.COPY_TO_DEVICE, device, host),
                    rate(copies, CudaSymbol.COPY_TO_HOST, host, device));
        } finally {
            start.arrive();
        }
    }

    /** Returns bytes a second. The first copy is not measured, since it maps the memory; the second one gives the count. */
    private double rate(Copies copies, CudaSymbol copy, long to, long from) throws CudaException {
        copies.seconds(copy, to, from, 1);
        double once = copies.seconds(copy, to, from, 1);
        double fitting = work.busy().toNanos() / 1e9 / once;
        int count = (int) Math.max(1, Math.min(MOST_COPIES, fitting));
        return count * (double) work.bytes() / copies.seconds(copy, to, from, count);
    }

    /** Copies of one size on one stream. */
    private record Copies(CudaLibrary library, long stream, Stopwatch stopwatch, int bytes) {

        double seconds(CudaSymbol copy, long to, long from, int count) throws CudaException {
            try (NativeMemory memory = NativeMemory.allocate(Invocation.bytes(CudaLibrary.signature(copy)))) {
                Invocation call = library.prepare(copy, memory, 0);
                call.set(0, to);
                call.set(1, from);
                call.set(2, bytes);
                call.set(3, stream);
                return stopwatch.seconds(() -> {
                    for (int i = 0; i < count; i++) {
                        CudaLibrary.check(copy, call.callInt());
                    }
                });
            }
        }
    }
}
