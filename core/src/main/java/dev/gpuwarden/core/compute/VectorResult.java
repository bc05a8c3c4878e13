package dev.gpuwarden.core.compute;

/**
 * The result of a measurement of vectors.
 *
 * @param bytesPerSecond read and written, by the GPU's clock
 * @param verification of all elements after the last round
 * @param digest of a part after the last round
 */
public record VectorResult(double bytesPerSecond, Verification verification, HostDigest digest) {

    public boolean isRight() {
        return verification.isRight() && digest.isRight();
    }
}
