package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.nat.lib.NativeMemory;

/** The digest of words in the GPU's memory (reduce.cu): the GPU reduces each block, and this process the blocks. */
final class DigestReader {

    private final CudaLibrary library;
    private final Workspace space;
    private final Kernel reduce;
    private final long words;
    private final int blocks;
    private final long sums;
    private final NativeMemory host;

    DigestReader(Resources resources, Workspace space, long words) throws CudaException {
        this.library = resources.library();
        this.space = space;
        this.words = words;
        this.blocks = Math.toIntExact(Workspace.blocks(words));
        this.reduce = space.kernel(new KernelModule(resources, "reduce"), "reduce_words");
        this.sums = resources.memory(2L * Long.BYTES * blocks);
        this.host = resources.host(Math.multiplyExact(2 * Long.BYTES, blocks));
    }

    /** Blocks until the digest is there. */
    Digest of(long address) throws CudaException {
        long xors = sums + Long.BYTES * (long) blocks;
        reduce.launch(blocks, address, words, Workspace.PER_BLOCK, sums, xors, 0);
        space.stopwatch().await();
        library.require(CudaSymbol.READ_MEMORY, host.address(), sums, host.size());
        Digest digest = Digest.NOTHING;
        for (int i = 0; i < blocks; i++) {
            digest = digest.and(new Digest(
                    host.buffer().getLong(Long.BYTES * i), host.buffer().getLong(Long.BYTES * (blocks + i))));
        }
        return digest;
    }
}
