package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.PlantedError;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.nat.lib.NativeMemory;
import java.util.function.LongUnaryOperator;
import java.util.random.RandomGenerator;

/**
 * Makes one element of the GPU's memory wrong for the time of a comparison, by copies of that element alone. It belongs to one thread and one
 * stream.
 */
final class ErrorPlanter {

    private final CudaLibrary library;
    private final long stream;
    private final NativeMemory host;
    private final RandomGenerator random;

    /** @param random chooses place and bit */
    ErrorPlanter(Resources resources, long stream, RandomGenerator random) {
        this.library = resources.library();
        this.stream = stream;
        this.host = resources.host(Long.BYTES);
        this.random = random;
    }

    /**
     * Neighbouring elements of the GPU's memory.
     *
     * @param bytes of an element, 1 to 8
     * @param part elements that the last block of a launch has
     * @param firstIndex the index of the first element in reports
     */
    record Elements(long address, int bytes, long count, long part, long firstIndex) {}

    /** A comparison of all elements that has ended when it returns. */
    interface Comparison<R> {
        R run() throws CudaException;
    }

    /**
     * Runs a comparison while one element is wrong, and returns it without that one.
     *
     * @param expected returns the right bits of an element, counted from 0
     */
    Verification compared(Elements elements, LongUnaryOperator expected, Comparison<Verification> comparison)
            throws CudaException {
        long place = PlantedError.place(elements.count(), elements.part(), random);
        PlantedError error = at(elements, place, expected.applyAsLong(place));
        return with(elements, error, comparison).without(error);
    }

    /** Chooses the wrong bits of the element at a place, which is counted from 0. */
    PlantedError at(Elements elements, long place, long expected) throws CudaException {
        long before = read(elements.address() + place * elements.bytes(), elements.bytes());
        return PlantedError.of(elements.firstIndex() + place, expected, before, elements.bytes() * Byte.SIZE, random);
    }

    /** Runs a comparison while an element is wrong, and makes it again what it was. */
    <R> R with(Elements elements, PlantedError error, Comparison<R> comparison) throws CudaException {
        long address = elements.address() + (error.index() - elements.firstIndex()) * elements.bytes();
        if (error.isWritten()) {
            write(address, elements.bytes(), error.during());
        }
        R result = comparison.run();
        if (error.isWritten()) {
            write(address, elements.bytes(), error.before());
        }
        return result;
    }

    /** Returns the bits of an element, in the lowest bytes of the word: GPUs and their hosts are little-endian. */
    long read(long address, int bytes) throws CudaException {
        host.buffer().putLong(0, 0);
        library.require(CudaSymbol.COPY_TO_HOST, host.address(), address, bytes, stream);
        library.require(CudaSymbol.STREAM_SYNCHRONIZE, stream);
        return host.buffer().getLong(0);
    }

    private void write(long address, int bytes, long bits) throws CudaException {
        host.buffer().putLong(0, bits);
        library.require(CudaSymbol.COPY_TO_DEVICE, address, host.address(), bytes, stream);
        library.require(CudaSymbol.STREAM_SYNCHRONIZE, stream);
    }
}
