package dev.gpuwarden.aggregator.objectmonitor;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

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

    /** What there is to be said of policies. Pure but for asking those at work how they fare. */
    static final class StatusOf {

        static final String LISTING = "Listing";

        /**
         * How the objects of a kind are followed.
         *
         * @param trouble why they are not
         * @param complete whether all of them have been told
         */
        record Standing(Optional<Trouble> trouble, boolean complete, int objects) {}

        private StatusOf() {}

        /**
         * @param erring for how long a predicate that errs is no trouble
         * @param standing how its objects are followed; empty while nobody does
         * @param tooMuch how much it matches, where that is so much that a person has to confirm it
         * @param matches that it has, of which so many concern nodes that are missing
         */
        static PolicyStatus policy(
                String name,
                PolicyStore.Entry entry,
                Duration erring,
                Optional<Standing> standing,
                Optional<String> tooMuch,
                int matches,
                int ofMissing,
                Set<String> missing) {
            if (entry.run().isEmpty()) {
                Trouble trouble = entry.trouble().orElse(new Trouble("Invalid", ""));
                return PolicyStatus.idle(name, entry.generation(), trouble.reason(), trouble.message(), matches);
            }
            PolicyStats run = entry.run().get();
            if (run.stopped().isPresent()) {
                return PolicyStatus.idle(
                        name,
                        entry.generation(),
                        "TooCostly",
                        run.stopped().get() + "; what it has told before stays",
                        matches);
            }
            Optional<Trouble> trouble = standing.flatMap(Standing::trouble);
            if (trouble.isPresent()) {
                return PolicyStatus.idle(
                        name,
                        entry.generation(),
                        trouble.get().reason(),
                        trouble.get().message(),
                        matches);
            }
            if (standing.isEmpty() || !standing.get().complete()) {
                return PolicyStatus.idle(
                        name,
                        entry.generation(),
                        LISTING,
                        "its objects are being read; what matches newly is reported after that",
                        matches);
            }
            return atWork(
                    name,
                    entry,
                    run,
                    tooMuch,
                    run.erringFor(erring),
                    standing.get().objects(),
                    matches,
                    ofMissing,
                    missing);
        }

        private static PolicyStatus atWork(
                String name,
                PolicyStore.Entry entry,
                PolicyStats run,
                Optional<String> tooMuch,
                boolean errs,
                int objects,
                int matches,
                int ofMissing,
                Set<String> missing) {
            int without = run.withoutNode() + ofMissing;
            int erring = run.erring();
            boolean ready = true;
            String reason = "Ready";
            String message = "each " + run.source().resource() + " is looked at when it changes";
            if (tooMuch.isPresent() && entry.confirmed()) {
                message += "; that " + tooMuch.get() + " is confirmed for generation " + entry.generation();
            }
            if (tooMuch.isPresent() && !entry.confirmed()) {
                ready = false;
                reason = "MatchesEverything";
                message = tooMuch.get()
                        + ", more than half: is the predicate what was meant? Nothing new is reported, what was"
                        + " reported before stays. To have it reported, run: kubectl annotate --overwrite monitorpolicy "
                        + name
                        + " " + PolicyStore.CONFIRM + "=" + entry.generation();
            } else if (errs) {
                ready = false;
                reason = "PredicateErrors";
                message = "it cannot say whether these match, which then do not: ask has(...) first; " + run.anError();
            } else if (run.withoutNode() > 0) {
                reason = "ObjectsWithoutNode";
                message = "objects match and concern no node, so nothing is told of them; " + run.aNodelessObject();
            } else if (ofMissing > 0) {
                reason = "ObjectsWithoutNode";
                message = "nodeAssociation names nodes that do not exist, such as "
                        + missing.stream().findFirst().orElse("");
            }
            return new PolicyStatus(
                    name, entry.generation(), ready, reason, message, objects, matches - ofMissing, without, erring);
        }
    }

    /**
     * Why the objects of a policy are not followed, and what to do about it.
     *
     * @param reason of its condition
     */
    record Trouble(String reason, String message) {}
}
