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
 * A node's faults, and how far they can be trusted.
 *
 * @param nodeUid the uid of the Node in the report; empty if unknown
 * @param why the defect of the node's own report; empty without one
 * @param faults the current and trusted faults
 * @param ofMonitors the keys of the faults that only monitors report
 * @param names the display names of the parts in the faults
 * @param unlisted the number of further faults that were not kept; above 0, the node cannot be judged healthy
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
        /** The node itself has not reported yet. Only the faults from monitors of the cluster exist, and they are trusted. */
        MONITORED,
        /** The node's own report is too old and is ignored. The faults from monitors are trusted. */
        SILENT,
        /** The report is too old. */
        STALE,
        /** The node, or a monitor of it, has not reported all of its faults yet. */
        PARTIAL,
        /** The report is unreadable or impossible, for example from the future or without a Node. */
        IMPLAUSIBLE
    }

    public FaultReport {
        faults = List.copyOf(faults);
        ofMonitors = Set.copyOf(ofMonitors);
    }

    /** Creates a report in which the parts have only the names that the events use. */
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

    /** Returns the time at which the youngest fault was raised; empty without faults. */
    public Optional<Instant> youngest() {
        return faults.stream().map(Fault::since).max(Instant::compareTo);
    }

    /** Returns true if some faults may be acted on. */
    private boolean isFit() {
        return standing == Standing.TRUSTED || monitorsAlone();
    }

    /** Returns true if only the faults from monitors are trusted. */
    public boolean monitorsAlone() {
        return standing == Standing.MONITORED || standing == Standing.SILENT;
    }

    /** Returns true if the list of faults is complete. */
    public boolean isWhole() {
        return unlisted == 0 && (standing == Standing.TRUSTED || standing == Standing.MONITORED);
    }

    /** Returns the reason why this report must not be acted on for this Node; empty if it may be. */
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
