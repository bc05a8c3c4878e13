package dev.gpuwarden.core.holder;

/**
 * What a container was given and may be a GPU or a part of one, nobody can say of which.
 *
 * @param resource as pods ask for it, for example "nvidia.com/gpu"; of a claim "NAMESPACE/CLAIM"
 * @param why for people
 */
public record UnresolvedDevice(
        String namespace, String pod, String container, String resource, String deviceId, String why) {}
