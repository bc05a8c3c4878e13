package dev.gpuwarden.aggregator.ingest;

import java.util.Optional;
import java.util.Set;

/**
 * Who calls.
 *
 * @param nodes for which it may open a stream; it chooses one with Hello
 * @param monitor its name, where it is one that watches the whole cluster and may report faults of any node
 * @param proof how it showed that, for the log
 */
record Caller(Set<String> nodes, Optional<String> monitor, String proof) {

    static Caller node(Set<String> nodes, String proof) {
        return new Caller(nodes, Optional.empty(), proof);
    }

    static Caller monitor(String name) {
        return new Caller(Set.of(), Optional.of(name), "token of " + name);
    }

    boolean speaksFor(String node) {
        return nodes.contains(node);
    }
}
