package dev.gpuwarden.nat.cuda;

/** One stream of a GPU with its stopwatch and a report, for a measurement by kernels. */
final class Workspace {

    /**
     * Neighbouring elements of one block of 256 threads: a power of two that gives a large vector thousands of blocks, and the SM of each
     * block little memory.
     */
    static final long PER_BLOCK = 1L << 14;

    private final Resources resources;
    private final long stream;
    private final Stopwatch stopwatch;
    private final Report report;

    Workspace(Resources resources) throws CudaException {
        this.resources = resources;
        this.stream = resources.stream();
        this.stopwatch = new Stopwatch(resources, stream);
        this.report = new Report(resources, stream);
    }

    /** Returns a kernel of a module that launches on this stream. */
    Kernel kernel(KernelModule module, String function) throws CudaException {
        return module.kernel(function, stream);
    }

    long stream() {
        return stream;
    }

    Stopwatch stopwatch() {
        return stopwatch;
    }

    Report report() {
        return report;
    }

    /** Enqueues the filling of memory with one byte. */
    void fill(long address, int value, long bytes) throws CudaException {
        resources.library().require(CudaSymbol.MEMORY_SET, address, value, bytes, stream);
    }

    /** Returns the blocks of a launch over this many elements. */
    static long blocks(long elements) {
        return (elements + PER_BLOCK - 1) / PER_BLOCK;
    }
}
