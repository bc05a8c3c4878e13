package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.node.PartNames;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * What is known of a node's faults.
 *
 * @param nodeUid of the Node that it was told of; empty where that is not known
 * @param why what is wrong with what the node itself says
 * @param faults those that are current, as far as they are trusted
 * @param ofMonitors which of them the node has not told
 * @param names what people call the parts that they name
 * @param unlisted how many more there are that nobody kept: the node cannot be known to be well
 */
public record FaultReport(
        String node,
        String nodeUid,
        Standing standing,
        String why,
        List<Fault> faults,
        Set<FaultKey> ofMonitors,
        PartNames names,
        int unlisted) {

    public enum Standing {
        TRUSTED,
        /** The node itself has told nothing yet: what monitors of the whole cluster say is all that is known, and is trusted. */
        MONITORED,
        /** The node's own word is of too long ago and counts for nothing; what monitors say is trusted. */
        SILENT,
        /** Of too long ago. */
        STALE,
        /** The node, or one that tells of it, has not told everything yet. */
        PARTIAL,
        /** Cannot be so. */
        IMPLAUSIBLE
    }

    public FaultReport {
        faults = List.copyOf(faults);
        ofMonitors = Set.copyOf(ofMonitors);
    }

    /** Of a node whose parts have no other names than its events give them. */
    public FaultReport(
            String node,
            String nodeUid,
            Standing standing,
            String why,
            List<Fault> faults,
            Set<FaultKey> ofMonitors,
            int unlisted) {
        this(node, nodeUid, standing, why, faults, ofMonitors, PartNames.NONE, unlisted);
    }

    public static FaultReport trusted(String node, List<Fault> faults) {
        return new FaultReport(node, "", Standing.TRUSTED, "", faults, Set.of(), 0);
    }

    /** Since when its youngest fault is; empty where there is none. */
    public Optional<Instant> youngest() {
        return faults.stream().map(Fault::since).max(Instant::compareTo);
    }

    /** Whether something is known that may be acted on. */
    private boolean isFit() {
        return standing == Standing.TRUSTED || monitorsAlone();
    }

    /** Whether nothing but what monitors say is trusted. */
    public boolean monitorsAlone() {
        return standing == Standing.MONITORED || standing == Standing.SILENT;
    }

    /** Whether what is not among the faults is none. */
    public boolean isWhole() {
        return unlisted == 0 && (standing == Standing.TRUSTED || standing == Standing.MONITORED);
    }

    /** Why nothing may be done because of it, whatever it says. */
    public Optional<String> unfitFor(CachedNode there) {
        if (!isFit()) {
            return Optional.of("the report is " + standing.name().toLowerCase(Locale.ROOT) + ": " + why);
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
