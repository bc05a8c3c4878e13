package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.nat.lib.Invocation;
import dev.gpuwarden.nat.lib.NativeMemory;

/**
 * A function of the GPU with one argument: a structure of 8-byte words (arguments.h). A launch copies the words, so that the memory of this
 * kernel serves the next launch.
 */
final class Kernel {

    /** Threads of a block (KERNEL_THREADS in arguments.h). */
    private static final int THREADS = 256;

    // Arguments of cuLaunchKernel.
    private static final int FUNCTION = 0;
    private static final int BLOCKS = 1;
    private static final int STREAM = 8;
    private static final int ARGUMENTS = 9;

    /** The other sizes of a launch, which has one dimension and no dynamic memory: grid y, z, block x, y, z, shared bytes. */
    private static final int[] SHAPE = {1, 1, THREADS, 1, 1, 0};

    private final NativeMemory memory;
    private final Invocation call;
    private final int most;

    /**
     * Creates a kernel.
     *
     * @param mostWords of its argument
     */
    Kernel(Resources resources, long function, long stream, int mostWords) {
        this.most = mostWords;
        int words = 8 + 8 * mostWords;
        this.memory = resources.host(words + Invocation.bytes(CudaLibrary.signature(CudaSymbol.LAUNCH)));
        memory.buffer().putLong(0, memory.address() + 8);
        this.call = resources.library().prepare(CudaSymbol.LAUNCH, memory, words);
        call.set(FUNCTION, function);
        for (int i = 0; i < SHAPE.length; i++) {
            call.set(BLOCKS + 1 + i, SHAPE[i]);
        }
        call.set(STREAM, stream);
        call.set(ARGUMENTS, memory.address());
        call.set(ARGUMENTS + 1, 0);
    }

    /** Enqueues a launch. */
    void launch(long blocks, long... words) throws CudaException {
        if (words.length > most || blocks < 1 || blocks > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(words.length + " words and " + blocks + " blocks");
        }
        for (int i = 0; i < words.length; i++) {
            memory.buffer().putLong(8 + 8 * i, words[i]);
        }
        call.set(BLOCKS, blocks);
        CudaLibrary.check(CudaSymbol.LAUNCH, call.callInt());
    }
}
