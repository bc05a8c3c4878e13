package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.NativeMemory;

/**
 * A function of the GPU with one argument: a structure of 8-byte words (arguments.h). A launch copies the words, so that the memory of this
 * kernel serves the next launch.
 */
final class Kernel {

    /** Threads of a block (KERNEL_THREADS in arguments.h). */
    private static final int THREADS = 256;

    private final CudaLibrary library;
    private final long function;
    private final long stream;
    private final NativeMemory memory;
    private final int most;

    /**
     * Creates a kernel.
     *
     * @param mostWords of its argument
     */
    Kernel(Resources resources, long function, long stream, int mostWords) {
        this.library = resources.library();
        this.function = function;
        this.stream = stream;
        this.most = mostWords;
        this.memory = resources.host(8 + 8 * mostWords);
        memory.buffer().putLong(0, memory.address() + 8);
    }

    /** Enqueues a launch. */
    void launch(long blocks, long... words) throws CudaException {
        if (words.length > most || blocks < 1 || blocks > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(words.length + " words and " + blocks + " blocks");
        }
        for (int i = 0; i < words.length; i++) {
            memory.buffer().putLong(8 + 8 * i, words[i]);
        }
        library.require(CudaSymbol.LAUNCH, function, blocks, 1, 1, THREADS, 1, 1, 0, stream, memory.address(), 0);
    }
}
