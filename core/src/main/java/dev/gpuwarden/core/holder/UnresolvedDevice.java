package dev.gpuwarden.core.holder;

/**
 * A device of a container that may be a GPU or a part of one, but could not be resolved to a GPU.
 *
 * @param resource as pods request it, for example "nvidia.com/gpu"; for a claim "NAMESPACE/CLAIM"
 * @param why the reason in words
 */
public record UnresolvedDevice(
        String namespace, String pod, String container, String resource, String deviceId, String why) {}
