package dev.gpuwarden.checks.access;

import java.time.Duration;

/** The request to let go of a GPU, for example before its reset. Thread-safe. */
public interface GpuRelease {

    /**
     * Ends the checks that work on a GPU, and keeps checks off it until the result is closed. Blocks until they have ended,
     * and within the patience.
     *
     * @param gpuUuid of the whole GPU
     * @param reason continues "released for …"; becomes the cause of skipped checks
     */
    Released release(String gpuUuid, String reason, Duration patience);

    /** A released GPU. */
    interface Released extends AutoCloseable {
        /** Returns whether no check works on the GPU; false if one has not ended within the patience. */
        boolean isFree();

        /** Lets checks use the GPU again. */
        @Override
        void close();
    }
}
