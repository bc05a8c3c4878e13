package dev.gpuwarden.core.compute;

import java.util.OptionalInt;

/**
 * An element with another value than expected. Values are bit patterns; those of 32 bits have an upper half of 0.
 *
 * @param index of the element; of the 8-byte word for memory
 * @param writerSm the SM that wrote the element; empty if it is not known
 * @param readerSm the SM that found the mismatch; empty if the host found it
 */
public record Mismatch(long index, long expected, long seen, OptionalInt writerSm, OptionalInt readerSm) {

    /** Creates a mismatch that an SM found. */
    public Mismatch(long index, long expected, long seen, OptionalInt writerSm, int readerSm) {
        this(index, expected, seen, writerSm, OptionalInt.of(readerSm));
    }

    /** Returns the mismatch in words: "element 7: expected 0x1, seen 0x3, written by SM 12". */
    public String text() {
        return "element " + Long.toUnsignedString(index) + ": expected 0x" + Long.toHexString(expected) + ", seen 0x"
                + Long.toHexString(seen) + by();
    }

    private String by() {
        return writerSm.isPresent()
                ? ", written by SM " + writerSm.getAsInt()
                : readerSm.isPresent() ? ", read by SM " + readerSm.getAsInt() : ", read by the host";
    }
}
