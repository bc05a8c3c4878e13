package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.api.v1.Welcome;
import java.util.Optional;
import java.util.Set;

/**
 * A kind of messages of nodes beside faults and events: {@link NodeRequests} for answers to the aggregator's requests,
 * {@link RequestWorkers} for requests of nodes. {@link IngestServer} has the registry of them. Thread-safe; no method blocks.
 */
public interface NodeMessageKind {

    /** Returns the messages of this kind. */
    Set<ReportCase> receives();

    /** Returns the limit that a message of this kind breaks; empty if there is none. A node that breaks one loses its stream. */
    default Optional<String> violation(NodeReport message) {
        return Optional.empty();
    }

    /** Adds what this kind offers to nodes. */
    default void welcome(Welcome.Builder welcome) {}

    /**
     * Begins to serve a node, which replaces its earlier link.
     *
     * @param node the node that the stream has proven
     */
    default void joined(String node, NodeLink link, Hello hello) {}

    /** Ends to serve a node, unless it has another link by now. */
    default void left(String node, NodeLink link) {}

    /** @param message a message of this kind, within its limits */
    void received(String node, NodeLink link, NodeReport message);
}
