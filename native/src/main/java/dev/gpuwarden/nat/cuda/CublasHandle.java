package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.cuda.CublasLibrary.CublasException;
import dev.gpuwarden.nat.cuda.CublasLibrary.Function;
import dev.gpuwarden.nat.lib.NativeMemory;

/** A handle of cuBLAS on one stream of the current context. Only the thread of that context calls it. */
final class CublasHandle implements AutoCloseable {

    private static final int NOT_TRANSPOSED = 0;
    private static final int ALPHA_AT = 8;
    private static final int BETA_AT = 16;

    private final CublasLibrary library;
    private final NativeMemory memory = NativeMemory.allocate(24);
    private final long handle;

    private CublasHandle(CublasLibrary library) {
        this.library = library;
        try {
            library.require(Function.CREATE, memory.address());
        } catch (CublasException e) {
            memory.close();
            throw e;
        }
        handle = memory.buffer().getLong(0);
        memory.buffer().putDouble(ALPHA_AT, 1).putDouble(BETA_AT, 0);
    }

    static CublasHandle open(CublasLibrary library, long stream) {
        CublasHandle opened = new CublasHandle(library);
        try {
            library.require(Function.SET_STREAM, opened.handle, stream);
            return opened;
        } catch (CublasException e) {
            opened.close();
            throw e;
        }
    }

    /** Returns the library's name with its version. */
    String library() {
        return "cuBLAS " + library.version();
    }

    /**
     * Enqueues c = a b for matrices of n by n, whose rows lie one after the other. The library has columns in a row, so it receives the
     * factors in the other order.
     */
    void multiply(long n, long a, long b, long c) {
        long alpha = memory.address() + ALPHA_AT;
        long beta = memory.address() + BETA_AT;
        library.require(Function.DGEMM, handle, NOT_TRANSPOSED, NOT_TRANSPOSED, n, n, n, alpha, b, n, a, n, beta, c, n);
    }

    @Override
    public void close() {
        library.call(Function.DESTROY, handle);
        memory.close();
    }
}
