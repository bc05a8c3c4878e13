package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.client.ReadyConditionWriter;
import dev.gpuwarden.core.util.Text;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The status of a policy: it works, or the reason why it does not, with the remedy.
 *
 * @param ready true if its objects are watched and the policy gives a result for each
 * @param reason Ready, Disabled, Invalid, DoesNotCompile, NeverMatches, TooCostly, ResourceNotFound, Forbidden, NotWatchable,
 *     Unreachable, Listing, PredicateErrors, MatchesEverything; and, while it works, ObjectsWithoutNode and NothingInScope,
 *     which an operator should see
 * @param objects the number of objects of its kind
 * @param matches the number of matches that are reported
 * @param withoutNode the number of matches that concern no existing node
 * @param erring the number of objects on which the evaluation failed
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

    Map<String, Object> condition() {
        return ReadyConditionWriter.condition(ready, generation, reason, message);
    }

    Map<String, Object> counts() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("objects", objects);
        tree.put("matches", matches);
        tree.put("withoutNode", withoutNode);
        tree.put("erring", erring);
        return tree;
    }

    /** The computation of statuses. Pure, except that it reads the counts of policies in use. */
    static final class PolicyAssessor {

        static final String LISTING = "Listing";

        /** Enough for what selects the objects, which usually comes first. */
        private static final int LONGEST_PREDICATE = 500;

        /**
         * The state of the informer of a kind.
         *
         * @param trouble the reason why the objects cannot be watched; empty if they can
         * @param complete true if all objects have arrived
         */
        record Standing(Optional<Trouble> trouble, boolean complete, int objects) {}

        private PolicyAssessor() {}

        /**
         * @param erring the time for which a failing predicate is no trouble
         * @param standing the state of its informer; empty while there is none
         * @param tooMuch the matched share, if it is so large that an operator must confirm it
         * @param matches the number of matches, of which {@code ofMissing} concern nodes that do not exist
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
            Optional<Trouble> idle = idle(entry, standing);
            if (idle.isPresent()) {
                Trouble why = idle.get();
                return new PolicyStatus(name, entry.generation(), false, why.reason(), why.message(), 0, matches, 0, 0);
            }
            PolicyStats run = entry.run().orElseThrow();
            int objects = standing.orElseThrow().objects();
            boolean ready = true;
            String reason = "Ready";
            String message = "each " + run.source().resource() + " is evaluated when it changes";
            if (tooMuch.isPresent() && entry.confirmed()) {
                message += "; that " + tooMuch.get() + " is confirmed for generation " + entry.generation();
            }
            if (tooMuch.isPresent() && !entry.confirmed()) {
                ready = false;
                reason = "MatchesEverything";
                message = tooMuch.get()
                        + ", more than half: check the predicate. Nothing new is reported, and the faults reported"
                        + " before stay. To report the matches, run: kubectl annotate --overwrite monitorpolicy "
                        + name
                        + " " + PolicyStore.CONFIRM + "=" + entry.generation();
            } else if (run.erringFor(erring)) {
                ready = false;
                reason = "PredicateErrors";
                message = "the predicate fails for these objects, which then do not match: test has(...) first; "
                        + run.anError();
            } else if (run.withoutNode() > 0) {
                reason = "ObjectsWithoutNode";
                message =
                        "objects match and concern no node, so nothing is reported for them; " + run.aNodelessObject();
            } else if (ofMissing > 0) {
                reason = "ObjectsWithoutNode";
                message = "nodeAssociation names nodes that do not exist, such as "
                        + missing.stream().findFirst().orElse("");
            } else if (objects == 0 || !run.selectedOne()) {
                reason = "NothingInScope";
                message = nothing(run.source(), objects);
            }
            return new PolicyStatus(
                    name,
                    entry.generation(),
                    ready,
                    reason,
                    message,
                    objects,
                    matches - ofMissing,
                    run.withoutNode() + ofMissing,
                    run.erring());
        }

        /** Without the number of objects, with which the condition would be written again and again. */
        private static String nothing(MonitorPolicy policy, int objects) {
            String normal = "; that is normal where the software that makes them is not installed, else check ";
            return objects == 0
                    ? "the cluster has no " + policy.resource() + normal + "group and kind"
                    : "no " + policy.resource() + " is selected, with any status and at any time" + normal
                            + "namespaces, labels and names in the predicate: "
                            + Text.truncate(policy.predicate().strip().replaceAll("\\s+", " "), LONGEST_PREDICATE);
        }

        /** Returns the reason why a policy does not work now; empty if it works. */
        private static Optional<Trouble> idle(PolicyStore.Entry entry, Optional<Standing> standing) {
            if (entry.run().isEmpty()) {
                return Optional.of(entry.trouble().orElse(new Trouble("Invalid", "")));
            }
            Optional<String> stopped = entry.run().get().stopped();
            return stopped.map(why -> new Trouble("TooCostly", why + "; the faults that it reported before stay"))
                    .or(() -> standing.flatMap(Standing::trouble))
                    .or(() -> standing.filter(Standing::complete).isPresent()
                            ? Optional.empty()
                            : Optional.of(new Trouble(
                                    LISTING, "its objects are being read; new matches are reported after that")));
        }
    }

    /**
     * The reason why the objects of a policy are not watched, and the remedy.
     *
     * @param reason the reason of its condition
     */
    record Trouble(String reason, String message) {}
}
