package dev.gpuwarden.aggregator.cache;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** Names of annotations and labels of a Node. Those without a domain are NVSentinel's, which other tools read. */
public final class NodeAnnotations {

    /** JSON list of the health events that hold the node. */
    public static final String EVENTS = "quarantineHealthEvent";

    public static final String TAINTS = "quarantineHealthEventAppliedTaints";
    public static final String LABELS = "quarantineHealthEventAppliedLabels";
    public static final String CORDONED = "quarantineHealthEventIsCordoned";
    public static final String CORDON_PRE_EXISTING = "quarantineHealthEventCordonPreExisting";
    public static final String UNCORDONED_MANUALLY = "quarantinedNodeUncordonedManually";
    public static final String UNTAINTED_MANUALLY = "quarantinedNodeUntaintedManually";

    /**
     * Set if only monitors of the whole cluster reported the faults that hold the node. Their reports alone then return the
     * node.
     */
    public static final String BY_MONITORS = "gpuwarden.dev/quarantined-by-monitors";

    /** The reason of the quarantine, and the condition that ends it, for operators. */
    public static final String REASON = "gpuwarden.dev/quarantine-reason";

    /** The faults that an operator accepted, in the format of the package `quarantine`. */
    public static final String CANCELLED = "gpuwarden.dev/quarantine-cancelled";

    /**
     * The time at which the breaker last let the node leave service. It stays when the node returns: the breaker counts it for
     * a while.
     */
    public static final String LET_THROUGH = "gpuwarden.dev/quarantined-at";

    /** The time of the last decision about the node. It stays too. */
    public static final String DECIDED = "gpuwarden.dev/quarantine-decided-at";

    /** The user of `gpuwarden cordon`, and the reason. It is removed when the node is released. */
    public static final String CORDONED_BY_HAND = "gpuwarden.dev/cordoned-by-hand";

    /** The progress of the drain, in the format of {@code drain.DrainAnnotation}. */
    public static final String DRAIN = "gpuwarden.dev/drain";

    /** An annotation of NVSentinel: the last repair of each equivalence group, in the format of the package `remediation`. */
    public static final String REMEDIATION_STATE = "latestFaultRemediationState";

    /** The present stage of the repair: its resources, an approval or an operator for whom it waits. */
    public static final String REPAIR = "gpuwarden.dev/repair";

    /** The field of {@link #REPAIR} with the reason why all pods must leave; absent if the faults alone request the drain. */
    public static final String REPAIR_DRAIN = "drain";

    /** The name of the resource that an operator has approved. */
    public static final String REPAIR_APPROVED = "gpuwarden.dev/repair-approved";

    /** The repairs of the node, also of earlier quarantines. It stays when the node returns. */
    public static final String REPAIRS = "gpuwarden.dev/repairs";

    /** A label of NVSentinel: the node's stage of repair. */
    public static final String STATE = "dgxc.nvidia.com/nvsentinel-state";

    public static final String QUARANTINED = "quarantined";

    /** The state while a maintenance resource is in progress. */
    public static final String REMEDIATING = "remediating";

    public static final String TRUE = "True";

    /** The annotations that are removed when the node returns. */
    public static final List<String> OF_SESSION = List.of(
            EVENTS,
            TAINTS,
            LABELS,
            CORDONED,
            CORDON_PRE_EXISTING,
            BY_MONITORS,
            REASON,
            DRAIN,
            REMEDIATION_STATE,
            REPAIR,
            REPAIR_APPROVED);

    public static final List<String> ANNOTATIONS = Stream.concat(
                    OF_SESSION.stream(),
                    Stream.of(UNCORDONED_MANUALLY, UNTAINTED_MANUALLY, CANCELLED, LET_THROUGH, DECIDED, REPAIRS))
            .toList();

    /** Labels that exclude a node from quarantine by the value `false`. */
    public static final List<String> OPT_OUT =
            List.of("nvsentinel.dgxc.nvidia.com/managed", "k8saas.nvidia.com/ManagedByNVSentinel");

    private NodeAnnotations() {}

    public static boolean isTrue(Map<String, String> annotations, String name) {
        return TRUE.equalsIgnoreCase(annotations.get(name));
    }
}
