package dev.gpuwarden.core.compute;

import java.util.List;
import java.util.Optional;
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
        return patterns.stream().allMatch(PatternResult::isRight);
    }

    /** Returns all patterns' comparisons. */
    public Verification verification() {
        return patterns.stream().map(PatternResult::verification).reduce(Verification.NOTHING, Verification::and);
    }

    /**
     * The result of one pattern. Indices of mismatches count 8-byte words over all pieces.
     *
     * @param fillBytesPerSecond by the GPU's clock; empty if no piece was filled
     * @param verifyBytesPerSecond likewise; empty if no piece was verified
     * @param digest of a part; empty if the test was stopped before
     */
    public record PatternResult(
            MemoryPattern pattern,
            OptionalDouble fillBytesPerSecond,
            OptionalDouble verifyBytesPerSecond,
            Verification verification,
            Optional<HostDigest> digest) {

        public boolean isRight() {
            return verification.isRight()
                    && digest.filter(part -> !part.isRight()).isEmpty();
        }

        /** Returns the first wrong element, or the wrong digest, in words; empty if nothing is wrong. */
        Optional<String> wrong() {
            return verification.hasWrong()
                    ? Optional.of(WrongResults.describe(verification))
                    : digest.filter(part -> !part.isRight()).map(HostDigest::text);
        }
    }
}
