package dev.gpuwarden.core.holder;

import dev.gpuwarden.core.model.Identifiers;

/**
 * A container of a pod whose process has the file of a GPU open, whether or not the GPU is allocated to it.
 *
 * @param container empty if it is unknown
 * @param gpuUuid of the whole GPU: "GPU-" and 36 characters
 */
public record ProcessHolder(String namespace, String pod, String container, String gpuUuid) {

    public ProcessHolder {
        gpuUuid = Identifiers.gpu(gpuUuid);
    }
}
