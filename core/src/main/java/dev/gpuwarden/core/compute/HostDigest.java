package dev.gpuwarden.core.compute;

/**
 * The digest of a part of a GPU's memory beside that of the right content, which the host computes without the GPU. Fill and comparison share
 * the GPU's arithmetic, so a fault of that shows here alone.
 *
 * @param first index of the first 8-byte element of the part
 * @param elements of the part
 * @param expected digest of the right content
 * @param seen digest of the memory
 */
public record HostDigest(long first, long elements, Digest expected, Digest seen) {

    public boolean isRight() {
        return expected.equals(seen);
    }

    /** Returns the difference in words. */
    String text() {
        return "the digest of elements " + first + " to " + (first + elements - 1) + " is " + seen
                + ", but the host's is " + expected + "; the GPU's own comparison found no wrong element";
    }
}
