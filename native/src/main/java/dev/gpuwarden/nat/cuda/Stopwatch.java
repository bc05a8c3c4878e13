package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.NativeMemory;

/** The time that work of a stream takes, by two events of the GPU. */
final class Stopwatch {

    private final CudaLibrary library;
    private final long stream;
    private final long begin;
    private final long end;
    private final NativeMemory out;

    /** Takes two events of these resources. */
    Stopwatch(Resources resources, long stream) throws CudaException {
        this.library = resources.library();
        this.stream = stream;
        this.begin = resources.event();
        this.end = resources.event();
        this.out = resources.host(8);
    }

    /** Work that is enqueued on the stream. */
    interface Enqueued {
        void enqueue() throws CudaException;
    }

    /** Returns the seconds between begin and end of the work, after its end. */
    double seconds(Enqueued work) throws CudaException {
        library.require(CudaSymbol.EVENT_RECORD, begin, stream);
        work.enqueue();
        await();
        library.require(CudaSymbol.EVENT_ELAPSED, out.address(), begin, end);
        return out.buffer().getFloat(0) / 1e3;
    }

    /** Blocks until all work of the stream has ended. */
    void await() throws CudaException {
        library.require(CudaSymbol.EVENT_RECORD, end, stream);
        library.require(CudaSymbol.EVENT_SYNCHRONIZE, end);
    }
}
