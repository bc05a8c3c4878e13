package dev.gpuwarden.core.holder;

import java.util.regex.Pattern;

/** Names of the extended resources by which pods request NVIDIA GPUs. Pure. */
public final class GpuResource {

    private static final String NVIDIA = "nvidia.com/";

    /**
     * `gpu`, `gpu.shared`, `gpu-…`, `mig-…` of NVIDIA's device plugin, and `pgpu` of its plugin for virtual machines. A dot or a
     * hyphen ends the word: HAMi's `gpumem`, `gpumem-percentage` and `gpucores` are shares of a GPU that `gpu` counts.
     */
    private static final Pattern GPUS = Pattern.compile("nvidia\\.com/(?:gpu|mig|pgpu)(?:[.-].*)?");

    /** HAMi's shares of a GPU, and its priority of a pod on it. */
    private static final Pattern SHARES = Pattern.compile("nvidia\\.com/(?:gpu[a-z].*|priority)");

    private GpuResource() {}

    /** Returns whether each unit of the resource is a GPU, a part of one by MIG, or a replica of one. */
    public static boolean isGpu(String resource) {
        return GPUS.matcher(resource).matches();
    }

    /**
     * Returns whether a unit of the resource can be a GPU. The device plugin permits any name under `nvidia.com/`, and network
     * cards are offered under it too. So an act that must miss no GPU counts these names.
     */
    public static boolean mayBeGpu(String resource) {
        return resource.startsWith(NVIDIA) && !SHARES.matcher(resource).matches();
    }
}
