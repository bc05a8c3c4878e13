package dev.gpuwarden.aggregator.maintenance;

import dev.gpuwarden.aggregator.client.ResourceKind;
import java.util.Optional;

/**
 * The kinds of maintenance. A resource is in progress until its status has a {@code completionTime}. It succeeded if its
 * {@link #doneCondition} is then True, and failed otherwise.
 */
public enum MaintenanceKind implements RepairKind {
    GPU_RESET("GPUReset", "gpuresets", "Complete"),
    REBOOT_NODE("RebootNode", "rebootnodes", "NodeReady"),
    TERMINATE_NODE("TerminateNode", "terminatenodes", "NodeTerminated");

    /** The group of NVSentinel's janitor, so that programs which watch its resources find these. */
    public static final String GROUP = "janitor.dgxc.nvidia.com";

    /** The annotation of a Lease that locks its owner, a Node, for the resource of a user's template: its name. */
    public static final String LOCKED_FOR = "gpuwarden.dev/locked-for";

    /** The value of the labels of services that are stopped for a reset. */
    public static final String PAUSED = "paused-for-gpu-reset";

    private final ResourceKind resources;
    private final String doneCondition;

    MaintenanceKind(String kind, String plural, String doneCondition) {
        this.resources = ResourceKind.ofCluster(GROUP, "v1alpha1", plural, kind);
        this.doneCondition = doneCondition;
    }

    /** Returns the kind of the Leases that lock nodes, each with the name of its node. */
    public static ResourceKind locks(String namespace) {
        return new ResourceKind(
                "coordination.k8s.io", "v1", "leases", "Lease", Optional.of(namespace), Optional.empty());
    }

    @Override
    public ResourceKind resources() {
        return resources;
    }

    /** Returns the type of the condition that shows the end. */
    public String doneCondition() {
        return doneCondition;
    }
}
