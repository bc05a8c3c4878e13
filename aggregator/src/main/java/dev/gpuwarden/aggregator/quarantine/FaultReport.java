package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache.CachedNodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.node.ReportedGpus;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A node's faults, and how far they can be trusted. Derived from a NodeHealth; pure.
 *
 * @param nodeUid the uid of the Node in the report; empty if unknown
 * @param why the defect of the node's own report; empty without one
 * @param faults the current and trusted faults
 * @param ofMonitors the keys of the faults that only monitors report
 * @param names the display names of the parts in the faults
 * @param unlisted the number of further faults that were not kept; above 0, the node cannot be judged healthy
 * @param gpus the GPUs that the node reports; none for an older node
 */
public record FaultReport(
        String node,
        String nodeUid,
        Standing standing,
        String why,
        List<Fault> faults,
        Set<FaultKey> ofMonitors,
        PartNames names,
        int unlisted,
        ReportedGpus gpus) {

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

    /** The age from which a report is stale: twice the interval of a node's reports without news, plus one minute. */
    public static final Duration STALE = Duration.ofMinutes(11);

    /** The longest time from a report to its watch event in normal operation, among a thousand others. */
    private static final Duration TRAVELS = Duration.ofSeconds(5);

    /** The longest wait of one of a thousand nodes that fail at the same time. */
    private static final Duration FRESH = Duration.ofSeconds(30);

    /** The tolerated difference between the clocks of two aggregators. */
    private static final Duration AHEAD = Duration.ofMinutes(5);

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
        this(node, nodeUid, standing, why, faults, ofMonitors, PartNames.NONE, unlisted, ReportedGpus.NONE);
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

    /** @param health the resource from the API server; empty if it does not exist */
    public static FaultReport of(String node, Optional<Map<String, Object>> health, Instant now) {
        if (health.isEmpty()) {
            return unfit(node, "", Standing.PARTIAL, "there is no NodeHealth");
        }
        NodeHealth read;
        try {
            read = NodeHealth.read(health.get());
        } catch (UnreadableNodeHealth e) {
            return unfit(node, "", Standing.IMPLAUSIBLE, String.valueOf(e.getMessage()));
        }
        String uid = read.nodeUid().orElse("");
        if (uid.isEmpty()) {
            return unfit(node, uid, Standing.IMPLAUSIBLE, "the NodeHealth belongs to no Node");
        }
        if (read.reported().isEmpty() || read.generation() == 0) {
            String why = "the node has not reported all of its faults yet";
            return monitored(read, uid, Standing.MONITORED, why)
                    .orElseGet(() -> unfit(node, uid, Standing.PARTIAL, why));
        }
        Instant reported = read.reported().get();
        if (reported.plus(STALE).isBefore(now)) {
            String why = "the node last reported at " + reported;
            return monitored(read, uid, Standing.SILENT, why).orElseGet(() -> unfit(node, uid, Standing.STALE, why));
        }
        if (reported.minus(AHEAD).isAfter(now)) {
            return unfit(
                    node, uid, Standing.IMPLAUSIBLE, "it was reported at " + reported + ", which is in the future");
        }
        Set<FaultKey> ofMonitors = keys(read.ofMonitors().orElse(List.of()));
        ofMonitors.removeAll(keys(read.own()));
        return new FaultReport(
                node,
                uid,
                Standing.TRUSTED,
                "",
                read.faults(),
                ofMonitors,
                read.names(),
                (int) Math.min(read.unlistedCount(), 1_000_000),
                read.gpus());
    }

    /** Returns a report of the monitors' faults alone; empty if no monitor reports on the node. */
    private static Optional<FaultReport> monitored(NodeHealth read, String uid, Standing standing, String why) {
        return read.ofMonitors()
                .map(faults -> new FaultReport(
                        read.node(), uid, standing, why, faults, keys(faults), read.names(), 0, read.gpus()));
    }

    private static Set<FaultKey> keys(List<Fault> faults) {
        return faults.stream().map(Fault::key).collect(Collectors.toCollection(HashSet::new));
    }

    /** Returns true if a newer NodeHealth may exist that has not arrived yet, or its age is unknown because the clock was set back. */
    public static boolean isStale(CachedNodeHealth health, Instant now) {
        return !health.answered() && late(health)
                || health.received().plus(FRESH).isBefore(now)
                || health.received().minus(TRAVELS).isAfter(now);
    }

    private static boolean late(CachedNodeHealth health) {
        try {
            String reported = JsonTrees.text(JsonTrees.object(health.tree(), "status"), "reported");
            return Instant.parse(reported).plus(TRAVELS).isBefore(health.received());
        } catch (DateTimeException e) {
            return true;
        }
    }

    private static FaultReport unfit(String node, String uid, Standing standing, String why) {
        return new FaultReport(node, uid, standing, why, List.of(), Set.of(), 0);
    }

    /** Returns a text for a fault and the time at which it was raised. A fault that ends and comes back has another. */
    public static String identity(Fault fault) {
        FaultKey key = fault.key();
        return String.join(
                "\0",
                key.agent(),
                key.componentClass(),
                key.checkName(),
                key.entity().type(),
                key.entity().value(),
                key.errorCode(),
                fault.since().toString());
    }
}
