package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Memory and handles that a measurement takes from the driver; {@link #close} gives them back in reverse order, also after a failure.
 * They belong to the current context of one thread.
 */
final class Resources implements AutoCloseable {

    private static final int WORDS = 2;

    private final CudaLibrary library;
    private final NativeMemory out = NativeMemory.allocate(8 * WORDS);
    private final Deque<Runnable> releases = new ArrayDeque<>();

    Resources(CudaLibrary library) {
        this.library = library;
    }

    CudaLibrary library() {
        return library;
    }

    /** Calls a function that writes a handle to its first argument. */
    long take(CudaSymbol create, CudaSymbol destroy, long... rest) throws CudaException {
        long handle = ask(create, rest);
        releases.push(() -> library.call(destroy, handle));
        return handle;
    }

    /** Returns the word that a function writes to its first argument. */
    long ask(CudaSymbol symbol, long... rest) throws CudaException {
        long[] arguments = new long[rest.length + 1];
        arguments[0] = out.address();
        System.arraycopy(rest, 0, arguments, 1, rest.length);
        out.buffer().putLong(0, 0);
        library.require(symbol, arguments);
        return out.buffer().getLong(0);
    }

    long memory(long bytes) throws CudaException {
        return take(CudaSymbol.MEMORY_ALLOCATE, CudaSymbol.MEMORY_FREE, bytes);
    }

    /** Returns a stream that does not wait for the default one. */
    long stream() throws CudaException {
        return take(CudaSymbol.STREAM_CREATE, CudaSymbol.STREAM_DESTROY, CudaConstant.CU_STREAM_NON_BLOCKING.number());
    }

    long event() throws CudaException {
        return take(CudaSymbol.EVENT_CREATE, CudaSymbol.EVENT_DESTROY, CudaConstant.CU_EVENT_BLOCKING_SYNC.number());
    }

    /** Returns the primary context of another GPU, which is not current. */
    long context(int device) throws CudaException {
        long context = ask(CudaSymbol.CONTEXT_RETAIN, device);
        releases.push(() -> library.call(CudaSymbol.CONTEXT_RELEASE, device));
        return context;
    }

    /** Returns the CUdevice of the current context. */
    int device() throws CudaException {
        return (int) ask(CudaSymbol.CONTEXT_DEVICE);
    }

    /** Returns zeroed memory of this process, which lives as long as these resources. */
    NativeMemory host(int bytes) {
        NativeMemory memory = NativeMemory.allocate(bytes);
        releases.push(memory::close);
        return memory;
    }

    /** Returns the bytes of the GPU's memory that are free, as the driver counts them. */
    long freeBytes() throws CudaException {
        library.require(CudaSymbol.MEMORY_INFO, out.address(), out.address() + 8);
        return out.buffer().getLong(0);
    }

    /** Returns an attribute of the current context's GPU, or 0 if this driver does not have it. */
    int attribute(CudaConstant attribute) throws CudaException {
        int device = device();
        out.buffer().putLong(0, 0);
        int result = library.call(CudaSymbol.DEVICE_ATTRIBUTE, out.address(), attribute.number(), device);
        return result == CudaResult.SUCCESS ? out.buffer().getInt(0) : 0;
    }

    @Override
    public void close() {
        while (!releases.isEmpty()) {
            releases.pop().run();
        }
        out.close();
    }
}
