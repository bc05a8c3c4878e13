package dev.gpuwarden.api.kube;

import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The upgrade of a node's driver by the GPU Operator, from the label that it keeps on the Node. A reset or a reboot in the middle
 * would meet a driver that is being unloaded or loaded. Pure.
 */
public final class DriverUpgrade {

    public static final String LABEL = "nvidia.com/gpu-driver-upgrade-state";

    /**
     * The states in which the operator does nothing to the node: not processed, waiting for its turn, over. Source: the comments
     * in `pkg/upgrade/consts.go` of NVIDIA/k8s-operator-libs. A failed upgrade and a state that is not in that file hold, because
     * the driver may be anywhere between its versions.
     */
    private static final Set<String> AT_REST = Set.of("", "upgrade-required", "upgrade-done");

    private static final String FAILED = "upgrade-failed";

    private DriverUpgrade() {}

    /**
     * Returns the reason why the node may neither be reset nor rebooted now; empty without an upgrade under way.
     *
     * @param labels labels of the Node
     */
    public static Optional<String> underWay(Map<String, String> labels) {
        String state = labels.getOrDefault(LABEL, "");
        return AT_REST.contains(state)
                ? Optional.empty()
                : Optional.of("the GPU Operator upgrades its driver: expected the label " + LABEL
                        + " to be upgrade-done or absent, seen " + state
                        + (state.equals(FAILED) ? ": an operator must end the upgrade, or remove the label" : ""));
    }
}
