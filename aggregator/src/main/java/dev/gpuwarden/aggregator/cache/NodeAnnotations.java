package dev.gpuwarden.aggregator.cache;

import java.util.List;
import java.util.Map;

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

    /** That only monitors of the whole cluster have told of the faults that hold the node: what they say suffices to bring it back. */
    public static final String BY_MONITORS = "gpuwarden.dev/quarantined-by-monitors";

    /** For people: why, and until when. */
    public static final String REASON = "gpuwarden.dev/quarantine-reason";

    /** Which faults a person has decided to live with, as the package `quarantine` writes them. */
    public static final String CANCELLED = "gpuwarden.dev/quarantine-cancelled";

    /** When the breaker let it be taken out of service last. Stays when the node returns: it is counted for a while. */
    public static final String LET_THROUGH = "gpuwarden.dev/quarantined-at";

    /** When something was decided about it last. Stays too. */
    public static final String DECIDED = "gpuwarden.dev/quarantine-decided-at";

    /** Who cordoned it with `gpuwarden cordon`, and why. Goes when it is released. */
    public static final String CORDONED_BY_HAND = "gpuwarden.dev/cordoned-by-hand";

    /** How far its pods are gone, as {@code drain.DrainRecord} has it. */
    public static final String DRAIN = "gpuwarden.dev/drain";

    /** Label, NVSentinel's: how far the node is on its way through repair. */
    public static final String STATE = "dgxc.nvidia.com/nvsentinel-state";

    public static final String QUARANTINED = "quarantined";

    public static final String TRUE = "True";

    /** All that go when the node returns. */
    public static final List<String> OF_SESSION =
            List.of(EVENTS, TAINTS, LABELS, CORDONED, CORDON_PRE_EXISTING, BY_MONITORS, REASON, DRAIN);

    public static final List<String> ANNOTATIONS = List.of(
            EVENTS,
            TAINTS,
            LABELS,
            CORDONED,
            CORDON_PRE_EXISTING,
            UNCORDONED_MANUALLY,
            UNTAINTED_MANUALLY,
            BY_MONITORS,
            REASON,
            CANCELLED,
            LET_THROUGH,
            DECIDED,
            DRAIN);

    /** Labels that say, with the value `false`, that a node is none of our business. */
    public static final List<String> OPT_OUT =
            List.of("nvsentinel.dgxc.nvidia.com/managed", "k8saas.nvidia.com/ManagedByNVSentinel");

    private NodeAnnotations() {}

    public static boolean isTrue(Map<String, String> annotations, String name) {
        return TRUE.equalsIgnoreCase(annotations.get(name));
    }
}
