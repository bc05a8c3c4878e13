package dev.gpuwarden.core.compute;

import java.time.Duration;
import java.util.List;

/**
 * The size of a memory test. It takes the lowest of the three sizes, and less if others take memory at the same time.
 *
 * @param shareOfFree of the memory that is free at its start, above 0 and at most 1
 * @param reserveBytes of free memory that stay free for others
 * @param mostBytes bound on the tested memory
 * @param pieceBytes the memory of one allocation, and of one launch: between two of them the test can be stopped; a multiple of 8
 * @param patterns in their order
 * @param seed of the random pattern
 * @param deadline after which the test is left behind
 */
public record MemoryWork(
        double shareOfFree,
        long reserveBytes,
        long mostBytes,
        long pieceBytes,
        List<MemoryPattern> patterns,
        long seed,
        Duration deadline) {

    /** Twice this fits any index of a piece; more would gain nothing. */
    private static final long MOST_PIECE_BYTES = 4L << 30;

    public MemoryWork {
        patterns = List.copyOf(patterns);
        if (!(shareOfFree > 0 && shareOfFree <= 1)) {
            throw new IllegalArgumentException(
                    "share of free memory: expected above 0, at most 1, seen " + shareOfFree);
        }
        if (pieceBytes < 8 || pieceBytes % 8 != 0 || pieceBytes > MOST_PIECE_BYTES) {
            throw new IllegalArgumentException(
                    "bytes of a piece: expected a multiple of 8 to " + MOST_PIECE_BYTES + ", seen " + pieceBytes);
        }
        if (reserveBytes < 0 || mostBytes < pieceBytes || patterns.isEmpty()) {
            throw new IllegalArgumentException("expected a reserve of 0 or more, room for a piece, and a pattern");
        }
    }

    /** Returns the number of pieces for this much free memory; 0 if not one fits. */
    public int pieces(long freeBytes) {
        long share = (long) (freeBytes * shareOfFree);
        long bytes = Math.min(mostBytes, Math.min(share, freeBytes - reserveBytes));
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, bytes / pieceBytes));
    }
}
