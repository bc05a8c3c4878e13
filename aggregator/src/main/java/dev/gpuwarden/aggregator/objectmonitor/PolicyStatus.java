package dev.gpuwarden.aggregator.objectmonitor;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What there is to be said of a policy: whether it works, and if not, why, and what to do.
 *
 * @param ready whether its objects are followed and it says of each whether it is wrong
 * @param reason Ready, Disabled, Invalid, DoesNotCompile, NeverMatches, TooCostly, ResourceNotFound, Forbidden, NotWatchable,
 *     Unreachable, Listing, PredicateErrors, MatchesEverything; and while it works ObjectsWithoutNode, which somebody should see
 * @param objects of its kind
 * @param matches of them those that are told of
 * @param withoutNode those that match and concern no node that there is
 * @param erring of which it cannot say
 */
public record PolicyStatus(
        String policy,
        long generation,
        boolean ready,
        String reason,
        String message,
        long objects,
        long matches,
        long withoutNode,
        long erring) {

    static PolicyStatus idle(String policy, long generation, String reason, String message, long matches) {
        return new PolicyStatus(policy, generation, false, reason, message, 0, matches, 0, 0);
    }

    /** As the resource's status has it, less the time of the last change. */
    Map<String, Object> condition() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("type", "Ready");
        tree.put("status", ready ? "True" : "False");
        tree.put("observedGeneration", generation);
        tree.put("reason", reason);
        tree.put("message", message);
        return tree;
    }

    Map<String, Object> counts() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("objects", objects);
        tree.put("matches", matches);
        tree.put("withoutNode", withoutNode);
        tree.put("erring", erring);
        return tree;
    }
}
