package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.port.ComputeDriver.CopyRates;
import dev.gpuwarden.core.port.ComputeDriver.CopyWork;
import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A measurement of copies between pinned memory of the host and a GPU. Copies are enqueued back to back on one stream, and events of the
 * GPU measure their time, so that neither the host's clock nor the cost of a call is part of the rate.
 */
final class CopyBench implements CudaContext.Work<CopyRates> {

    /** Bound on copies in one measurement, for copies that seem to take no time. */
    private static final int MOST_COPIES = 100_000;

    // cuda.h 13.0: CU_STREAM_NON_BLOCKING and CU_EVENT_DEFAULT.
    private static final int NON_BLOCKING = 1;
    private static final int DEFAULT = 0;

    private final CopyWork work;
    private final CountDownLatch ready;

    /** @param ready counted down when the memory is there; the measurement then waits for the others */
    CopyBench(CopyWork work, CountDownLatch ready) {
        this.work = work;
        this.ready = ready;
    }

    @Override
    public CopyRates run(CudaLibrary library) throws CudaException {
        try (NativeMemory out = NativeMemory.allocate(8);
                Resources resources = new Resources(library, out)) {
            long stream = resources.take(CudaSymbol.STREAM_CREATE, CudaSymbol.STREAM_DESTROY, NON_BLOCKING);
            long device = resources.take(CudaSymbol.MEMORY_ALLOCATE, CudaSymbol.MEMORY_FREE, work.bytes());
            long host = resources.take(CudaSymbol.HOST_ALLOCATE, CudaSymbol.HOST_FREE, work.bytes(), DEFAULT);
            Timer timer = new Timer(
                    library,
                    stream,
                    resources.take(CudaSymbol.EVENT_CREATE, CudaSymbol.EVENT_DESTROY, DEFAULT),
                    resources.take(CudaSymbol.EVENT_CREATE, CudaSymbol.EVENT_DESTROY, DEFAULT),
                    out);
            waitForOthers();
            return new CopyRates(
                    rate(timer, CudaSymbol.COPY_TO_DEVICE, device, host),
                    rate(timer, CudaSymbol.COPY_TO_HOST, host, device));
        } finally {
            ready.countDown();
        }
    }

    /**
     * Waits until all measurements of this round can begin, so that they share the links to the host. It does not wait for the whole
     * deadline: a GPU that hangs before would take the others with it.
     */
    private void waitForOthers() {
        ready.countDown();
        try {
            var unused = ready.await(work.deadline().toNanos() / 2, TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns bytes a second. The first copy is not measured, since it maps the memory; the second one gives the count. */
    private double rate(Timer timer, CudaSymbol copy, long to, long from) throws CudaException {
        timer.seconds(copy, to, from, work.bytes(), 1);
        double once = timer.seconds(copy, to, from, work.bytes(), 1);
        double fitting = work.busy().toNanos() / 1e9 / once;
        int copies = (int) Math.max(1, Math.min(MOST_COPIES, fitting));
        return copies * (double) work.bytes() / timer.seconds(copy, to, from, work.bytes(), copies);
    }

    /** The time between two events of a stream. */
    private record Timer(CudaLibrary library, long stream, long begin, long end, NativeMemory out) {

        double seconds(CudaSymbol copy, long to, long from, int bytes, int copies) throws CudaException {
            try (NativeMemory memory = NativeMemory.allocate(Invocation.bytes(CudaLibrary.signature(copy)))) {
                Invocation call = library.prepare(copy, memory, 0);
                call.set(0, to);
                call.set(1, from);
                call.set(2, bytes);
                call.set(3, stream);
                library.require(CudaSymbol.EVENT_RECORD, begin, stream);
                for (int i = 0; i < copies; i++) {
                    CudaLibrary.check(copy, call.callInt());
                }
                library.require(CudaSymbol.EVENT_RECORD, end, stream);
                library.require(CudaSymbol.EVENT_SYNCHRONIZE, end);
                library.require(CudaSymbol.EVENT_ELAPSED, out.address(), begin, end);
                return out.buffer().getFloat(0) / 1e3;
            }
        }
    }

    /** Memory and handles of the driver; they are given back in reverse order. */
    private record Resources(CudaLibrary library, NativeMemory out, Deque<Runnable> releases) implements AutoCloseable {

        Resources(CudaLibrary library, NativeMemory out) {
            this(library, out, new ArrayDeque<>());
        }

        /** Calls a function that writes a handle to its first argument. */
        long take(CudaSymbol create, CudaSymbol destroy, long... rest) throws CudaException {
            long[] arguments = new long[rest.length + 1];
            arguments[0] = out.address();
            System.arraycopy(rest, 0, arguments, 1, rest.length);
            library.require(create, arguments);
            long handle = out.buffer().getLong(0);
            releases.push(() -> library.call(destroy, handle));
            return handle;
        }

        @Override
        public void close() {
            releases.forEach(Runnable::run);
        }
    }
}
