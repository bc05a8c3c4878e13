package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.NodeCache.CachedNodeHealth;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthParser;
import dev.gpuwarden.aggregator.quarantine.FaultReport.Standing;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/** The derivation of a {@link FaultReport} from a NodeHealth. Pure. */
public final class FaultReports {

    /** The age from which a report is stale: twice the interval of a node's reports without news, plus one minute. */
    public static final Duration STALE = Duration.ofMinutes(11);

    /** The longest time from a report to its watch event in normal operation, among a thousand others. */
    private static final Duration TRAVELS = Duration.ofSeconds(5);

    /** The longest wait of one of a thousand nodes that fail at the same time. */
    private static final Duration FRESH = Duration.ofSeconds(30);

    /** The tolerated difference between the clocks of two aggregators. */
    private static final Duration AHEAD = Duration.ofMinutes(5);

    private FaultReports() {}

    /** @param health the resource from the API server; empty if it does not exist */
    public static FaultReport of(String node, Optional<Map<String, Object>> health, Instant now) {
        if (health.isEmpty()) {
            return unfit(node, "", Standing.PARTIAL, "there is no NodeHealth");
        }
        NodeHealth read;
        try {
            read = NodeHealthParser.read(health.get());
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
        return new FaultReport(node, uid, Standing.TRUSTED, "", read.faults(), ofMonitors, read.names(), (int)
                Math.min(read.unlistedCount(), 1_000_000));
    }

    /** Returns a report of the monitors' faults alone; empty if no monitor reports on the node. */
    private static Optional<FaultReport> monitored(NodeHealth read, String uid, Standing standing, String why) {
        return read.ofMonitors()
                .map(faults -> new FaultReport(read.node(), uid, standing, why, faults, keys(faults), read.names(), 0));
    }

    private static Set<FaultKey> keys(List<Fault> faults) {
        return faults.stream().map(Fault::key).collect(Collectors.toCollection(HashSet::new));
    }

    /** Returns true if a newer NodeHealth may exist that has not arrived yet. */
    public static boolean isOld(CachedNodeHealth health, Instant now) {
        return !health.answered() && late(health) || health.heard().plus(FRESH).isBefore(now);
    }

    private static boolean late(CachedNodeHealth health) {
        try {
            String reported = JsonTrees.text(JsonTrees.object(health.tree(), "status"), "reported");
            return Instant.parse(reported).plus(TRAVELS).isBefore(health.heard());
        } catch (DateTimeException e) {
            return true;
        }
    }

    private static FaultReport unfit(String node, String uid, Standing standing, String why) {
        return new FaultReport(node, uid, standing, why, List.of(), Set.of(), 0);
    }
}
