package dev.gpuwarden.core.compute;

import java.util.List;
import java.util.OptionalDouble;

/**
 * The result of a memory test.
 *
 * @param bytes of memory under test
 * @param freeBytes that were free at its start
 * @param complete false if it was stopped; the patterns have what was tested until then
 * @param patterns that were filled, in their order
 */
public record MemoryResult(long bytes, long freeBytes, boolean complete, List<PatternResult> patterns) {

    public MemoryResult {
        patterns = List.copyOf(patterns);
    }

    public boolean isRight() {
        return patterns.stream().allMatch(pattern -> pattern.verification().isRight());
    }

    /**
     * The result of one pattern. Indices of mismatches count 8-byte words over all pieces.
     *
     * @param fillBytesPerSecond by the GPU's clock; empty if no piece was filled
     * @param verifyBytesPerSecond likewise; empty if no piece was verified
     */
    public record PatternResult(
            MemoryPattern pattern,
            OptionalDouble fillBytesPerSecond,
            OptionalDouble verifyBytesPerSecond,
            Verification verification) {}
}
