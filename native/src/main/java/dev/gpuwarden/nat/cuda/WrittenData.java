package dev.gpuwarden.nat.cuda;

import dev.gpuwarden.core.compute.CopiedData;
import dev.gpuwarden.core.compute.ExpectedElements;
import java.nio.ByteBuffer;
import java.util.OptionalLong;

/**
 * Data that the host writes before copies and compares after them: words that differ from place to place, and from run to run, so that memory
 * of an earlier run differs too.
 */
final class WrittenData {

    /** The step of Weyl's sequence, whose words all differ: an odd number. */
    private static final long STEP = 0x9e3779b97f4a7c15L;

    private final long seed;
    private long compared;
    private long wrong;
    private OptionalLong first = OptionalLong.empty();

    WrittenData(long seed) {
        this.seed = ExpectedElements.random(seed, 0);
    }

    /** Writes all whole words of a buffer in the machine's byte order. @param from byte of the data that it begins with */
    void write(ByteBuffer buffer, long from) {
        long word = seed + from / Long.BYTES * STEP;
        for (int at = 0; at + Long.BYTES <= buffer.capacity(); at += Long.BYTES) {
            buffer.putLong(at, word);
            word += STEP;
        }
    }

    /** Compares the first bytes of a buffer. @param from byte of the data that it begins with */
    void compare(ByteBuffer buffer, long from, int bytes) {
        long word = seed + from / Long.BYTES * STEP;
        for (int at = 0; at + Long.BYTES <= bytes; at += Long.BYTES) {
            if (buffer.getLong(at) != word) {
                first = first.isPresent() ? first : OptionalLong.of(from + at);
                wrong++;
            }
            word += STEP;
        }
        compared += bytes;
    }

    CopiedData result() {
        return new CopiedData(compared, wrong, first);
    }
}
