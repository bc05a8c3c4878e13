package dev.gpuwarden.aggregator.remediation;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import dev.gpuwarden.aggregator.remediation.Repair.Outcome;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The Events of a Node's repairs, computed from the Node's annotations alone. So each replica computes the same Events. Pure. */
public final class RepairEvents {

    /**
     * The repair that a dry run would begin on a node, or the reason why it would not.
     *
     * @param uid UID of the Node
     * @param at time of the decision
     */
    public record RepairDryRun(String uid, String text, Instant at) {}

    private RepairEvents() {}

    public static List<NodeNews> of(CachedNode node) {
        RepairRecord record;
        try {
            record = RepairAnnotations.of(node);
        } catch (IOException e) {
            return List.of();
        }
        List<NodeNews> news = new ArrayList<>();
        for (Repair repair : record.history()) {
            news.add(new NodeNews("RepairStarted", started(repair), true, repair.at()));
            repair.result()
                    .ifPresent(result -> news.add(new NodeNews(
                            reason(result.outcome()),
                            ended(repair, result),
                            result.outcome() == Outcome.SUCCEEDED || result.outcome() == Outcome.WITHDRAWN,
                            result.at())));
        }
        record.next()
                .ifPresent(next -> news.add(new NodeNews(
                        "RepairAwaitsApproval",
                        next.group().what() + " for " + next.why() + " waits for gpuwarden approve " + node.name(),
                        true,
                        next.at())));
        record.person()
                .ifPresent(person -> news.add(new NodeNews("RepairNeedsHelp", person.task(), false, person.since())));
        return news;
    }

    /** Returns the Event of a repair in a dry run. */
    public static List<NodeNews> would(Optional<RepairDryRun> rehearsal) {
        return rehearsal.stream()
                .map(dryRun -> new NodeNews("RepairDryRun", dryRun.text(), true, dryRun.at()))
                .toList();
    }

    static String started(Repair repair) {
        return repair.group().what() + " for " + repair.why() + ": "
                + repair.group().kind().resources().kind() + " " + repair.resource();
    }

    private static String reason(Outcome outcome) {
        return switch (outcome) {
            case SUCCEEDED -> "RepairSucceeded";
            case WITHDRAWN -> "RepairWithdrawn";
            case REFUSED, POSTPONED -> "RepairRefused";
            case FAILED, DELETED -> "RepairFailed";
        };
    }

    static String ended(Repair repair, Repair.Result result) {
        String what = repair.group().what() + " (" + repair.resource() + ") ";
        return switch (result.outcome()) {
            case SUCCEEDED -> what + "has succeeded";
            case FAILED -> what + "has failed: " + result.why();
            case REFUSED, POSTPONED -> what + "was refused, and nothing was tried: " + result.why();
            case DELETED -> what + "did not end: " + result.why();
            case WITHDRAWN -> what + "was withdrawn: " + result.why();
        };
    }
}
