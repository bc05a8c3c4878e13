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

/** What of a NodeHealth may be acted on. Pure. */
public final class FaultReports {

    /** Twice what passes between two words of a node of which there is nothing new, and a minute. */
    public static final Duration STALE = Duration.ofMinutes(11);

    /** So long a report travels to a watch at most while nothing is wrong, with a thousand others. */
    private static final Duration TRAVELS = Duration.ofSeconds(5);

    /** As long as a thousand nodes that fail at once wait for each other. */
    private static final Duration FRESH = Duration.ofSeconds(30);

    /** Clocks of two aggregators differ a little. */
    private static final Duration AHEAD = Duration.ofMinutes(5);

    private FaultReports() {}

    /** @param health the resource as the API server has it; empty where there is none */
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
            String why = "the node has not told all of its faults yet";
            return monitored(read, uid, Standing.MONITORED, why)
                    .orElseGet(() -> unfit(node, uid, Standing.PARTIAL, why));
        }
        Instant reported = read.reported().get();
        if (reported.plus(STALE).isBefore(now)) {
            String why = "the node last said something at " + reported;
            return monitored(read, uid, Standing.SILENT, why).orElseGet(() -> unfit(node, uid, Standing.STALE, why));
        }
        if (reported.minus(AHEAD).isAfter(now)) {
            return unfit(node, uid, Standing.IMPLAUSIBLE, "it was reported at " + reported + ", which is to come");
        }
        Set<FaultKey> ofMonitors = keys(read.ofMonitors().orElse(List.of()));
        ofMonitors.removeAll(keys(read.own()));
        return new FaultReport(node, uid, Standing.TRUSTED, "", read.faults(), ofMonitors, read.names(), (int)
                Math.min(read.unlistedCount(), 1_000_000));
    }

    /** Only they say something of it now; empty if they do not either. */
    private static Optional<FaultReport> monitored(NodeHealth read, String uid, Standing standing, String why) {
        return read.ofMonitors()
                .map(faults -> new FaultReport(read.node(), uid, standing, why, faults, keys(faults), read.names(), 0));
    }

    private static Set<FaultKey> keys(List<Fault> faults) {
        return faults.stream().map(Fault::key).collect(Collectors.toCollection(HashSet::new));
    }

    /** Whether there may be a newer one that has not come here. */
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
