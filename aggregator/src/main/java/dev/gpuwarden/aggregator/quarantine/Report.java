package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.core.event.Fault;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What is known of a node's faults.
 *
 * @param nodeUid of the Node that it was told of; empty where that is not known
 * @param why what is wrong, where it is not to be trusted
 * @param faults those that are current
 * @param unlisted how many more there are that nobody kept: the node cannot be known to be well
 */
public record Report(String node, String nodeUid, Standing standing, String why, List<Fault> faults, int unlisted) {

    public enum Standing {
        TRUSTED,
        /** Of too long ago. */
        STALE,
        /** The node, or one that tells of it, has not told everything yet. */
        PARTIAL,
        /** Cannot be so. */
        IMPLAUSIBLE
    }

    public Report {
        faults = List.copyOf(faults);
    }

    public static Report trusted(String node, List<Fault> faults) {
        return new Report(node, "", Standing.TRUSTED, "", faults, 0);
    }

    /** Since when its youngest fault is; empty where there is none. */
    public Optional<Instant> youngest() {
        return faults.stream().map(Fault::since).max(Instant::compareTo);
    }

    /** Why nothing may be done because of it, whatever it says. */
    public Optional<String> unfitFor(NodeRead there) {
        if (standing != Standing.TRUSTED) {
            return Optional.of("the report is " + standing.name().toLowerCase(java.util.Locale.ROOT) + ": " + why);
        }
        if (!node.equals(there.name())) {
            return Optional.of("the report is of node " + node + ", not of " + there.name());
        }
        if (!nodeUid.isEmpty() && !nodeUid.equals(there.uid())) {
            return Optional.of("the report is of a Node of that name that is gone, uid " + nodeUid);
        }
        return faults.stream()
                .filter(fault -> !fault.key().nodeName().equals(node))
                .findFirst()
                .map(fault -> "the report is implausible: it has a fault of node "
                        + fault.key().nodeName());
    }
}
