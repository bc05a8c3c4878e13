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

/** An index of all objects that match now, by policy and by node. Thread-safe. */
final class MatchIndex {

    private final Consumer<String> changed;
    private final Map<String, Map<String, Match>> byPolicy = new HashMap<>();
    private final Map<String, Map<Match.Key, Match>> byNode = new HashMap<>();
    /** The number of matches for each node, by policy. */
    private final Map<String, Map<String, Integer>> counts = new HashMap<>();

    /** @param changed called with a node whose matches changed; must be quick */
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

    /** Adds a reported match, if it is not in this index and the matches of its policy are incomplete. */
    void recall(String policy, String object, Match match, Predicate<String> incomplete) {
        if (incomplete.test(policy) && putIfAbsent(policy, object, match) && !incomplete.test(policy)) {
            // The list was complete before this match was added, so that no list removes it.
            removeIf(policy, each -> !each.confirmed());
        }
    }

    private synchronized boolean putIfAbsent(String policy, String object, Match match) {
        boolean absent = get(policy, object).isEmpty();
        if (absent) {
            put(policy, object, match);
        }
        return absent;
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

    /** Removes the matches of a policy for which the predicate is true. */
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

    /** Marks the matches of a policy as not confirmed: they are from before. */
    synchronized void unconfirm(String policy) {
        Map<String, Match> ofPolicy = byPolicy.getOrDefault(policy, Map.of());
        for (Map.Entry<String, Match> entry : List.copyOf(ofPolicy.entrySet())) {
            put(policy, entry.getKey(), entry.getValue().unseen());
        }
    }

    /** Returns a copy of a node's matches, in the order of their keys. */
    synchronized Map<Match.Key, Match> ofNode(String node) {
        Map<Match.Key, Match> matches = new TreeMap<>(java.util.Comparator.comparing(Match.Key::toString));
        matches.putAll(byNode.getOrDefault(node, Map.of()));
        return matches;
    }

    synchronized boolean has(String node) {
        return byNode.containsKey(node);
    }

    synchronized int count(String policy) {
        return byPolicy.getOrDefault(policy, Map.of()).size();
    }

    synchronized int count(String policy, Set<String> nodes) {
        return (int) byPolicy.getOrDefault(policy, Map.of()).values().stream()
                .filter(match -> nodes.contains(match.node()))
                .count();
    }

    /** Returns the highest number of matches that concern one node. */
    synchronized int mostOfANode(String policy) {
        return counts.getOrDefault(policy, Map.of()).values().stream()
                .mapToInt(Integer::intValue)
                .max()
                .orElse(0);
    }

    /** Returns the number of nodes with at least this many matches, without the given nodes. */
    synchronized int nodes(String policy, int atLeast, Set<String> less) {
        return (int) counts.getOrDefault(policy, Map.of()).entrySet().stream()
                .filter(node -> node.getValue() >= atLeast && !less.contains(node.getKey()))
                .count();
    }

    synchronized Set<String> policies() {
        return new TreeSet<>(byPolicy.keySet());
    }

    /** Returns all nodes that a match of the policy concerns. */
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
     * An object that matches a policy. The match stays until the object has recovered.
     *
     * @param since the time of the first evaluation that matched
     * @param digest the digest of the policy by which the object matches
     * @param confirmed true if the object was evaluated since this replica watches it; false if the match is from before
     * @param receivedNanos the time at which the change arrived that made it match, by {@link System#nanoTime}
     */
    record Match(String node, Instant since, String digest, boolean confirmed, long receivedNanos) {

        /** The key of a match: an object and a policy. */
        record Key(String policy, String object) {

            /** Returns the key of all objects of a node together, for a policy that counts them. */
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

        /** Returns this match with the start of an earlier match of the object, unless that concerned another node. */
        Match after(Match before) {
            return node.equals(before.node) ? new Match(node, before.since, digest, true, before.receivedNanos) : this;
        }

        Match seen() {
            return confirmed ? this : new Match(node, since, digest, true, receivedNanos);
        }

        Match unseen() {
            return confirmed ? new Match(node, since, digest, false, receivedNanos) : this;
        }
    }
}
