package dev.gpuwarden.aggregator.maintenance;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The services of the GPU Operator that hold GPUs, and that a reset stops. The drain leaves exactly these to the reset, and the reset
 * stops and awaits exactly these. Pure.
 */
public final class ServiceLabels {

    /** The labels of a Node by which the operator deploys them. */
    public static final List<String> LABELS = List.of(
            "nvidia.com/gpu.deploy.device-plugin",
            "nvidia.com/gpu.deploy.dcgm",
            "nvidia.com/gpu.deploy.dcgm-exporter",
            "nvidia.com/gpu.deploy.gpu-feature-discovery");

    /** The value of such a label that deploys the service. */
    public static final String DEPLOYED = "true";

    private ServiceLabels() {}

    /**
     * Returns the labels whose removal ends a pod; empty for a pod that is no such service. A pod without a DaemonSet stays when a
     * label of its node changes. One that requests a GPU is a workload, also if it selects such a label.
     *
     * @param owner kind of the pod's controller
     * @param wantsGpu true if the pod requests a GPU in any way
     * @param nodeSelector labels that the pod requires of its node
     */
    public static Set<String> of(String owner, boolean wantsGpu, Map<String, String> nodeSelector) {
        return !owner.equals("DaemonSet") || wantsGpu
                ? Set.of()
                : LABELS.stream()
                        .filter(label -> DEPLOYED.equals(nodeSelector.get(label)))
                        .collect(Collectors.toUnmodifiableSet());
    }
}
