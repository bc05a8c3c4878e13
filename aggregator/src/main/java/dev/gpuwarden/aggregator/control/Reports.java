package dev.gpuwarden.aggregator.control;

import dev.gpuwarden.aggregator.fleet.HealthRead;
import dev.gpuwarden.aggregator.health.NodeHealth;
import dev.gpuwarden.aggregator.health.NodeHealthReader;
import dev.gpuwarden.aggregator.health.UnreadableNodeHealth;
import dev.gpuwarden.aggregator.json.Trees;
import dev.gpuwarden.aggregator.quarantine.Report;
import dev.gpuwarden.aggregator.quarantine.Report.Standing;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What of a NodeHealth may be acted on. Pure. */
public final class Reports {

    /** Twice what passes between two words of a node of which there is nothing new, and a minute. */
    public static final Duration STALE = Duration.ofMinutes(11);

    /** So long a report travels to a watch at most while nothing is wrong, with a thousand others. */
    private static final Duration TRAVELS = Duration.ofSeconds(5);

    /** As long as a thousand nodes that fail at once wait for each other. */
    private static final Duration FRESH = Duration.ofSeconds(30);

    /** Clocks of two aggregators differ a little. */
    private static final Duration AHEAD = Duration.ofMinutes(5);

    private Reports() {}

    /** @param health the resource as the API server has it; empty where there is none */
    public static Report of(String node, Optional<Map<String, Object>> health, Instant now) {
        if (health.isEmpty()) {
            return unfit(node, "", Standing.PARTIAL, "there is no NodeHealth");
        }
        NodeHealth read;
        try {
            read = NodeHealthReader.read(health.get());
        } catch (UnreadableNodeHealth e) {
            return unfit(node, "", Standing.IMPLAUSIBLE, String.valueOf(e.getMessage()));
        }
        String uid = read.nodeUid().orElse("");
        if (uid.isEmpty()) {
            return unfit(node, uid, Standing.IMPLAUSIBLE, "the NodeHealth belongs to no Node");
        }
        if (read.reported().isEmpty() || read.generation() == 0) {
            return unfit(node, uid, Standing.PARTIAL, "the node has not told all of its faults yet");
        }
        Instant reported = read.reported().get();
        if (reported.plus(STALE).isBefore(now)) {
            return unfit(node, uid, Standing.STALE, "the node last said something at " + reported);
        }
        if (reported.minus(AHEAD).isAfter(now)) {
            return unfit(node, uid, Standing.IMPLAUSIBLE, "it was reported at " + reported + ", which is to come");
        }
        return new Report(
                node, uid, Standing.TRUSTED, "", read.faults(), (int) Math.min(read.unlistedCount(), 1_000_000));
    }

    /** Whether there may be a newer one that has not come here. */
    static boolean isOld(HealthRead health, Instant now) {
        return !health.answered() && late(health) || health.heard().plus(FRESH).isBefore(now);
    }

    private static boolean late(HealthRead health) {
        try {
            String reported = Trees.text(Trees.object(health.tree(), "status"), "reported");
            return Instant.parse(reported).plus(TRAVELS).isBefore(health.heard());
        } catch (DateTimeException e) {
            return true;
        }
    }

    private static Report unfit(String node, String uid, Standing standing, String why) {
        return new Report(node, uid, standing, why, List.of(), 0);
    }
}
