package dev.gpuwarden.core.holder;

/**
 * A container of a pod that was given a GPU or a part of one, whether or not it uses it.
 *
 * @param gpuUuid of the whole GPU: "GPU-" and 36 characters
 * @param deviceId what was given, as the device plugin or the DRA driver names it
 */
public record GpuHolder(String namespace, String pod, String container, String gpuUuid, Kind kind, String deviceId) {

    /** How much of the GPU it is. */
    public enum Kind {
        /** All of it, and nobody else is given it. */
        EXCLUSIVE,
        /** One of several replicas (time-slicing, MPS): other pods may have the others. */
        SHARED,
        /** A partition of it. */
        MIG,
        /** By a resource claim, of which several pods may share one. */
        DRA
    }
}
