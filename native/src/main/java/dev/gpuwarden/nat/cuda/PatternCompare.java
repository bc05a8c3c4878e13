package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.PlantedError;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/** A comparison of memory of the current context's GPU with a repeated pattern, by a kernel. It belongs to one thread. */
public final class PatternCompare implements AutoCloseable {

    private final Resources resources;
    private final Kernel kernel;
    private final NativeMemory seen;
    private final long wrong;
    private final long stream;
    private final RandomGenerator random = new SplittableRandom();
    private final ErrorPlanter planter;

    private PatternCompare(Resources resources, long stream) throws CudaException {
        this.resources = resources;
        this.stream = stream;
        kernel = new KernelModule(resources, "compare").kernel("compare_pattern", stream);
        seen = resources.host(Long.BYTES);
        wrong = resources.memory(Long.BYTES);
        planter = new ErrorPlanter(resources, stream, random);
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
     * Returns the number of elements that differ, and waits for it. It compares a second time while one element is wrong, since a kernel that
     * counts nothing would find all data right.
     *
     * @param pattern address of the elements that repeat
     * @param position in the pattern of the first element; may be larger than the period
     * @param elementBytes 1, 2, 4 or 8
     * @throws BlindComparison if the second comparison does not count one wrong element more
     */
    public long wrong(long pattern, long address, long count, long position, long period, int elementBytes)
            throws CudaException {
        if (count == 0) {
            return 0;
        }
        ErrorPlanter.Comparison<Long> comparison =
                () -> counted(pattern, address, count, position, period, elementBytes);
        long found = comparison.run();
        ErrorPlanter.Elements elements =
                new ErrorPlanter.Elements(address, elementBytes, count, Workspace.PER_BLOCK, 0);
        long place = PlantedError.place(count, Workspace.PER_BLOCK, random);
        long right = planter.read(pattern + (position + place) % period * elementBytes, elementBytes);
        PlantedError error = planter.at(elements, place, right);
        long more = error.isWritten() ? planter.with(elements, error, comparison) - found : found;
        if (error.isWritten() ? more != 1 : more < 1) {
            throw new BlindComparison("compare_pattern found " + found + " of " + count + " elements wrong, and "
                    + (error.isWritten() ? (found + more) + " with an error of the host at " : "not that at ") + place);
        }
        return found;
    }

    private long counted(long pattern, long address, long count, long position, long period, int elementBytes)
            throws CudaException {
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
