package dev.gpuwarden.aggregator.ingest;

import java.util.Set;

/**
 * Who opened a stream.
 *
 * @param nodes for which it may speak; it chooses one with Hello
 * @param proof how it showed that, for the log
 */
record Caller(Set<String> nodes, String proof) {

    boolean speaksFor(String node) {
        return nodes.contains(node);
    }
}
