package dev.gpuwarden.aggregator.objectmonitor;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** All objects that match now, by policy and by node. Thread-safe. */
final class MatchIndex {

    private final Consumer<String> changed;
    private final Map<String, Map<String, Match>> byPolicy = new HashMap<>();
    private final Map<String, Map<Match.Key, Match>> byNode = new HashMap<>();
    /** By policy, how many of its matches concern each node. */
    private final Map<String, Map<String, Integer>> counts = new HashMap<>();

    /** @param changed told of a node whose matches are others now; must be quick */
    MatchIndex(Consumer<String> changed) {
        this.changed = changed;
    }

    synchronized Optional<Match> get(String policy, String object) {
        return Optional.ofNullable(byPolicy.getOrDefault(policy, Map.of()).get(object));
    }

    synchronized void put(String policy, String object, Match match) {
        Match before = byPolicy.computeIfAbsent(policy, any -> new HashMap<>()).put(object, match);
        Match.Key key = new Match.Key(policy, object);
        if (before != null && !before.node().equals(match.node())) {
            leave(before.node(), key);
        }
        if (byNode.computeIfAbsent(match.node(), any -> new HashMap<>()).put(key, match) == null) {
            counts.computeIfAbsent(policy, any -> new HashMap<>()).merge(match.node(), 1, Integer::sum);
        }
        if (before == null
                || !before.node().equals(match.node())
                || !before.digest().equals(match.digest())) {
            changed.accept(match.node());
        }
    }

    synchronized void remove(String policy, String object) {
        Map<String, Match> ofPolicy = byPolicy.getOrDefault(policy, Map.of());
        Match before = ofPolicy.isEmpty() ? null : ofPolicy.remove(object);
        if (before != null) {
            leave(before.node(), new Match.Key(policy, object));
        }
    }

    private void leave(String node, Match.Key key) {
        Map<Match.Key, Match> there = byNode.getOrDefault(node, Map.of());
        if (!there.isEmpty()) {
            there.remove(key);
            if (there.isEmpty()) {
                byNode.remove(node);
            }
        }
        Map<String, Integer> nodes = counts.getOrDefault(key.policy(), new HashMap<>());
        nodes.computeIfPresent(node, (any, count) -> count == 1 ? null : count - 1);
        if (nodes.isEmpty()) {
            counts.remove(key.policy());
        }
        changed.accept(node);
    }

    /** Takes away those of a policy of which this is true. */
    synchronized void removeIf(String policy, Predicate<Match> gone) {
        List<String> objects = byPolicy.getOrDefault(policy, Map.of()).entrySet().stream()
                .filter(entry -> gone.test(entry.getValue()))
                .map(Map.Entry::getKey)
                .toList();
        objects.forEach(object -> remove(policy, object));
        if (byPolicy.getOrDefault(policy, Map.of()).isEmpty()) {
            byPolicy.remove(policy);
        }
    }

    /** From now on they are known from before. */
    synchronized void unconfirm(String policy) {
        Map<String, Match> ofPolicy = byPolicy.getOrDefault(policy, Map.of());
        for (Map.Entry<String, Match> entry : List.copyOf(ofPolicy.entrySet())) {
            put(policy, entry.getKey(), entry.getValue().unseen());
        }
    }

    /** A copy, in order of their keys. */
    synchronized Map<Match.Key, Match> ofNode(String node) {
        Map<Match.Key, Match> matches = new TreeMap<>(java.util.Comparator.comparing(Match.Key::toString));
        matches.putAll(byNode.getOrDefault(node, Map.of()));
        return matches;
    }

    synchronized int count(String policy) {
        return byPolicy.getOrDefault(policy, Map.of()).size();
    }

    synchronized int count(String policy, Set<String> nodes) {
        return (int) byPolicy.getOrDefault(policy, Map.of()).values().stream()
                .filter(match -> nodes.contains(match.node()))
                .count();
    }

    /** Those of the node that has the most of them. */
    synchronized int mostOfANode(String policy) {
        return counts.getOrDefault(policy, Map.of()).values().stream()
                .mapToInt(Integer::intValue)
                .max()
                .orElse(0);
    }

    /** Nodes that at least so many of its matches concern. */
    synchronized int nodes(String policy, int atLeast, Set<String> less) {
        return (int) counts.getOrDefault(policy, Map.of()).entrySet().stream()
                .filter(node -> node.getValue() >= atLeast && !less.contains(node.getKey()))
                .count();
    }

    synchronized Set<String> policies() {
        return new TreeSet<>(byPolicy.keySet());
    }

    /** All nodes that a match of the policy concerns. */
    synchronized Set<String> nodes(String policy) {
        return new TreeSet<>(counts.getOrDefault(policy, Map.of()).keySet());
    }

    synchronized List<String> nodes() {
        return new ArrayList<>(byNode.keySet());
    }

    synchronized void clear() {
        byPolicy.clear();
        counts.clear();
        byNode.clear();
    }

    /**
     * An object that a policy says is wrong, and stays so until it has recovered.
     *
     * @param since when it was first seen to match
     * @param digest of the policy by which it matches
     * @param confirmed whether it has been seen since this replica follows the objects; else it is known from before
     * @param heardNanos when it was heard of that made it match, by {@link System#nanoTime}
     */
    record Match(String node, Instant since, String digest, boolean confirmed, long heardNanos) {

        /** Which object by which policy. */
        record Key(String policy, String object) {

            /** All objects of a node together, by a policy that counts them. */
            static Key whole(String policy) {
                return new Key(policy, "");
            }

            boolean isWhole() {
                return object.isEmpty();
            }

            @Override
            public String toString() {
                return isWhole() ? policy : policy + "/" + object;
            }
        }

        /** The same object as it is known already: it has matched since then, unless it concerned another node. */
        Match after(Match before) {
            return node.equals(before.node) ? new Match(node, before.since, digest, true, before.heardNanos) : this;
        }

        Match seen() {
            return confirmed ? this : new Match(node, since, digest, true, heardNanos);
        }

        Match unseen() {
            return confirmed ? new Match(node, since, digest, false, heardNanos) : this;
        }
    }
}
