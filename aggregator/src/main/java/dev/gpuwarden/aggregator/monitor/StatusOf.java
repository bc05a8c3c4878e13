package dev.gpuwarden.aggregator.monitor;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;

/** What there is to be said of policies. Pure but for asking those at work how they fare. */
final class StatusOf {

    static final String LISTING = "Listing";

    /** Of fewer objects all may be wrong. */
    private static final int MANY_OBJECTS = 10;

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
     * @param matches that it has, of which so many concern nodes that are missing
     */
    static PolicyStatus policy(
            String name,
            PolicyShelf.Entry entry,
            Duration erring,
            Optional<Standing> standing,
            int matches,
            int ofMissing,
            Set<String> missing) {
        if (entry.run().isEmpty()) {
            Trouble trouble = entry.trouble().orElse(new Trouble("Invalid", ""));
            return PolicyStatus.idle(name, entry.generation(), trouble.reason(), trouble.message(), matches);
        }
        PolicyRun run = entry.run().get();
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
            return PolicyStatus.idle(name, entry.generation(), LISTING, "its objects are being read", matches);
        }
        return atWork(
                name,
                entry.generation(),
                run,
                run.erringFor(erring),
                standing.get().objects(),
                matches,
                ofMissing,
                missing);
    }

    private static PolicyStatus atWork(
            String name,
            long generation,
            PolicyRun run,
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
        if (errs) {
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
        } else if (objects >= MANY_OBJECTS && matches >= objects) {
            reason = "MatchesEverything";
            message = "every one of " + objects + " objects matches: is the predicate what was meant?";
        }
        return new PolicyStatus(
                name, generation, ready, reason, message, objects, matches - ofMissing, without, erring);
    }
}
