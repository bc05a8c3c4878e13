package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.PolicyAssessor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** The state of each policy: its results for the cluster, and the decision whether new faults may be reported. Thread-safe. */
final class PolicyStandings {

    private final PolicyStore shelf;
    private final MatchIndex book;
    private final Map<ResourceType, KindInformer> followers;
    private final NodeCache cache;
    private final Supplier<Set<String>> missing;
    private final MonitorSettings settings;
    private final Set<String> holding = ConcurrentHashMap.newKeySet();

    /**
     * @param followers the informers by type; the map changes while it is read
     * @param missing returns the nodes that objects concern and that do not exist
     */
    PolicyStandings(
            PolicyStore shelf,
            MatchIndex book,
            Map<ResourceType, KindInformer> followers,
            NodeCache cache,
            Supplier<Set<String>> missing,
            MonitorSettings settings) {
        this.shelf = shelf;
        this.book = book;
        this.followers = followers;
        this.cache = cache;
        this.missing = missing;
        this.settings = settings;
    }

    /**
     * Returns whether nothing new may be reported by a policy: it matches too much, or its matches are not all known yet. If
     * so, {@link #released} returns the policy after that.
     */
    boolean held(String policy) {
        boolean held = holds(policy);
        if (held) {
            holding.add(policy);
        }
        return held;
    }

    /** Returns the policies that were held and are not now, each one once. The caller must report their matches. */
    Set<String> released() {
        Set<String> released = new TreeSet<>(holding);
        released.removeIf(this::holds);
        holding.removeAll(released);
        return released;
    }

    private boolean holds(String policy) {
        Optional<PolicyStore.Entry> entry = shelf.entry(policy);
        return entry.isEmpty()
                || !complete(entry.get())
                || !entry.get().confirmed() && tooMuch(policy, entry.get()).isPresent();
    }

    private boolean complete(PolicyStore.Entry entry) {
        return standing(entry).filter(PolicyAssessor.Standing::complete).isPresent();
    }

    /** Returns whether not all matches of a policy are known: its reported faults stay, even without a match. */
    boolean incomplete(String policy) {
        if (!shelf.isComplete()) {
            return true;
        }
        return shelf.entry(policy)
                .filter(entry -> !entry.disabled())
                .filter(entry -> !complete(entry)
                        || entry.run().flatMap(PolicyStats::stopped).isPresent())
                .isPresent();
    }

    private Optional<PolicyAssessor.Standing> standing(PolicyStore.Entry entry) {
        return entry.run().map(run -> followers.get(run.source().resource())).map(KindInformer::standing);
    }

    private Optional<String> tooMuch(String policy, PolicyStore.Entry entry) {
        // The match of a new object can be known before the object is counted.
        int matches = book.count(policy);
        int objects = Math.max(
                matches, standing(entry).map(PolicyAssessor.Standing::objects).orElse(0));
        return entry.readable()
                .flatMap(source -> new Reach(
                                objects,
                                source.counts() ? 0 : matches,
                                cache.size(),
                                book.nodes(policy, source.minMatches(), missing.get()))
                        .tooMuch(settings.confirmFrom()));
    }

    Optional<PolicyStatus> status(String policy) {
        return shelf.entry(policy).map(entry -> status(policy, entry));
    }

    /** Returns one status for each policy, by name. */
    List<PolicyStatus> statuses() {
        List<PolicyStatus> statuses = new ArrayList<>();
        shelf.entries().forEach((name, entry) -> statuses.add(status(name, entry)));
        return statuses;
    }

    private PolicyStatus status(String policy, PolicyStore.Entry entry) {
        Set<String> none = missing.get();
        return PolicyAssessor.policy(
                policy,
                entry,
                settings.erring(),
                standing(entry),
                tooMuch(policy, entry),
                book.count(policy),
                book.count(policy, none),
                none);
    }

    /**
     * The share of a cluster that a policy matches. Pure.
     *
     * @param objects the number of objects of its kind
     * @param matches the number of matches; 0 if the policy counts objects, since it searches for many of one node
     * @param nodes the number of nodes in the cluster
     * @param concerned the number of nodes that have or would get a fault
     */
    record Reach(int objects, int matches, int nodes, int concerned) {

        /**
         * Returns the matched share in words if it is more than half: a wrong expression is likelier than so many faults at the
         * same time.
         *
         * @param least the number of objects, or of nodes, below which any share is accepted
         */
        Optional<String> tooMuch(int least) {
            if (objects >= least && matches > objects / 2) {
                return Optional.of(matches + " of " + objects + " objects match");
            }
            return nodes >= least && concerned > nodes / 2
                    ? Optional.of("its matches concern " + concerned + " of " + nodes + " nodes")
                    : Optional.empty();
        }
    }
}
