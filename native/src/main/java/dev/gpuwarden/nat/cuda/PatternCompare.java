package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.NativeMemory;

/** A comparison of memory of the current context's GPU with a repeated pattern, by a kernel. It belongs to one thread. */
public final class PatternCompare implements AutoCloseable {

    private final Resources resources;
    private final Kernel kernel;
    private final NativeMemory seen;
    private final long wrong;
    private final long stream;

    private PatternCompare(Resources resources, long stream) throws CudaException {
        this.resources = resources;
        this.stream = stream;
        kernel = new KernelModule(resources, "compare").kernel("compare_pattern", stream);
        seen = resources.host(Long.BYTES);
        wrong = resources.memory(Long.BYTES);
    }

    /**
     * Loads the kernel, which the driver compiles in the calling thread: it needs a stack of some MiB.
     *
     * @param stream of the current context
     */
    public static PatternCompare open(CudaLibrary library, long stream) throws CudaException {
        Resources resources = new Resources(library);
        try {
            return new PatternCompare(resources, stream);
        } catch (CudaException e) {
            resources.close();
            throw e;
        }
    }

    /**
     * Returns the number of elements that differ, and waits for it.
     *
     * @param pattern address of the elements that repeat
     * @param position in the pattern of the first element; may be larger than the period
     * @param elementBytes 1, 2, 4 or 8
     */
    public long wrong(long pattern, long address, long count, long position, long period, int elementBytes)
            throws CudaException {
        if (count == 0) {
            return 0;
        }
        CudaLibrary library = resources.library();
        library.require(CudaSymbol.MEMORY_SET, wrong, 0, Long.BYTES, stream);
        kernel.launch(
                Workspace.blocks(count),
                pattern,
                address,
                count,
                Workspace.PER_BLOCK,
                position,
                period,
                Integer.numberOfTrailingZeros(elementBytes),
                wrong);
        library.require(CudaSymbol.COPY_TO_HOST, seen.address(), wrong, Long.BYTES, stream);
        library.require(CudaSymbol.STREAM_SYNCHRONIZE, stream);
        return seen.buffer().getLong(0);
    }

    @Override
    public void close() {
        resources.close();
    }
}
