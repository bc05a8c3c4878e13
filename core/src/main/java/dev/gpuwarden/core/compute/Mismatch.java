package dev.gpuwarden.core.compute;

import java.util.OptionalInt;

/**
 * An element with another value than expected. Values are bit patterns; those of 32 bits have an upper half of 0.
 *
 * @param index of the element; of the 8-byte word for memory
 * @param writerSm the SM that wrote the element; empty if it is not known
 * @param readerSm the SM that found the mismatch
 */
public record Mismatch(long index, long expected, long seen, OptionalInt writerSm, int readerSm) {

    /** Returns the mismatch in words: "element 7: expected 0x1, seen 0x3, written by SM 12". */
    public String text() {
        return "element " + Long.toUnsignedString(index) + ": expected 0x" + Long.toHexString(expected) + ", seen 0x"
                + Long.toHexString(seen)
                + (writerSm.isPresent() ? ", written by SM " + writerSm.getAsInt() : ", read by SM " + readerSm);
    }
}
