package dev.gpuwarden.core.holder;

import dev.gpuwarden.core.model.Identifiers;

/**
 * A container of a pod to which a GPU or a part of one is allocated, whether or not it uses it.
 *
 * @param gpuUuid of the whole GPU: "GPU-" and 36 characters
 * @param deviceId the allocated device, as the device plugin or the DRA driver names it
 */
public record GpuHolder(String namespace, String pod, String container, String gpuUuid, Kind kind, String deviceId) {

    public GpuHolder {
        gpuUuid = Identifiers.gpu(gpuUuid);
        deviceId = Identifiers.gpu(deviceId);
    }

    /** The share of the GPU. */
    public enum Kind {
        /** The whole GPU, for this container alone. */
        EXCLUSIVE,
        /** One of several replicas (time-slicing, MPS): other pods may hold the others. */
        SHARED,
        /** A MIG partition. */
        MIG,
        /** A device of a resource claim, which several pods may share. */
        DRA
    }
}
