package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import dev.gpuwarden.aggregator.objectmonitor.PolicyStatus.StatusOf;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/** How each policy stands: what it says of the cluster, and whether new faults by it may be reported. Thread-safe. */
final class PolicyStandings {

    private final PolicyStore shelf;
    private final MatchIndex book;
    private final Map<ResourceType, KindInformer> followers;
    private final NodeCache fleet;
    private final Supplier<Set<String>> missing;
    private final MonitorSettings settings;
    private final Set<String> holding = ConcurrentHashMap.newKeySet();

    /**
     * @param followers by what they follow; read while it changes
     * @param missing nodes that objects concern and that do not exist
     */
    PolicyStandings(
            PolicyStore shelf,
            MatchIndex book,
            Map<ResourceType, KindInformer> followers,
            NodeCache fleet,
            Supplier<Set<String>> missing,
            MonitorSettings settings) {
        this.shelf = shelf;
        this.book = book;
        this.followers = followers;
        this.fleet = fleet;
        this.missing = missing;
        this.settings = settings;
    }

    /**
     * Whether nothing new may be reported of a policy: it matches too much, or it is not known yet how much that is. Where it is so,
     * {@link #released} has the policy once that is over.
     */
    boolean held(String policy) {
        boolean held = holds(policy);
        if (held) {
            holding.add(policy);
        }
        return held;
    }

    /** Policies that were held, and are not now: what matches by them is to be reported. Each is told once. */
    Set<String> released() {
        Set<String> released = new TreeSet<>(holding);
        released.removeIf(this::holds);
        holding.removeAll(released);
        return released;
    }

    private boolean holds(String policy) {
        Optional<PolicyStore.Entry> entry = shelf.entry(policy);
        boolean complete = entry.flatMap(this::standing)
                .filter(StatusOf.Standing::complete)
                .isPresent();
        return !complete
                || !entry.get().confirmed() && tooMuch(policy, entry.get()).isPresent();
    }

    private Optional<StatusOf.Standing> standing(PolicyStore.Entry entry) {
        return entry.run().map(run -> followers.get(run.source().resource())).map(KindInformer::standing);
    }

    private Optional<String> tooMuch(String policy, PolicyStore.Entry entry) {
        // Of an object that came just now the match may be known before the object is counted.
        int matches = book.count(policy);
        int objects = Math.max(
                matches, standing(entry).map(StatusOf.Standing::objects).orElse(0));
        return entry.readable()
                .flatMap(source -> new Reach(
                                objects,
                                source.counts() ? 0 : matches,
                                fleet.size(),
                                book.nodes(policy, source.minMatches(), missing.get()))
                        .tooMuch(settings.confirmFrom()));
    }

    Optional<PolicyStatus> status(String policy) {
        return shelf.entry(policy).map(entry -> status(policy, entry));
    }

    /** One for each policy, in order of their names. */
    List<PolicyStatus> statuses() {
        List<PolicyStatus> statuses = new ArrayList<>();
        shelf.entries().forEach((name, entry) -> statuses.add(status(name, entry)));
        return statuses;
    }

    private PolicyStatus status(String policy, PolicyStore.Entry entry) {
        Set<String> none = missing.get();
        return StatusOf.policy(
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
     * How much of a cluster a policy says is wrong. Pure.
     *
     * @param objects of its kind
     * @param matches of them; of those that are counted, none, since many of one node are what is looked for
     * @param nodes of the cluster
     * @param concerned of them, those that have or are to get a fault
     */
    record Reach(int objects, int matches, int nodes, int concerned) {

        /**
         * How much that is, where it is more than half: a wrong expression is likelier than so many faults at the same time.
         *
         * @param least of fewer objects, or nodes, any number may be wrong
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
