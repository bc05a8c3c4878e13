package dev.gpuwarden.nat.nvml;

import java.nio.ByteBuffer;
import java.util.OptionalInt;

/**
 * The length of the entries that a process call wrote. The suffix of the function does not give it: drivers 535.43 to
 * 535.86 wrote 32 bytes from the `_v3` calls, later ones 24, and 16 has been reported. So the buffer is filled with a
 * pattern before the call, and bytes without the pattern were written.
 */
final class ProcessEntries {

    /** The content of the buffer where nothing was written. */
    static final byte PATTERN = (byte) 0xAA;

    /** Longest entry of any driver: the buffer has room for entries of this length. */
    static final int LONGEST = NvmlStructs.of("nvmlProcessDetail_v1_t").size();

    private static final int V2 = NvmlStructs.of("nvmlProcessInfo_v2_t").size();
    private static final int V1 = NvmlStructs.of("nvmlProcessInfo_v1_t").size();

    private ProcessEntries() {}

    /** Returns the bytes per entry; empty where the written bytes fit no known entry. */
    static OptionalInt stride(ByteBuffer buffer, int bytes, int count) {
        int written = bytes;
        while (written > 0 && buffer.get(written - 1) == PATTERN) {
            written--;
        }
        for (int stride : new int[] {V1, V2, LONGEST}) {
            if (written == stride * count) {
                return OptionalInt.of(stride);
            }
        }
        return OptionalInt.empty();
    }

    /** Returns whether entries of this length contain the MIG instance. */
    static boolean hasInstance(int stride) {
        return stride >= V2;
    }
}
