package dev.gpuwarden.aggregator.health;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.cluster.Fields;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The resources `NodeHealth`, one per node and named as it. Each belongs to its Node, so it goes when that goes. Each call asks
 * the API server and blocks until it has answered. Thread-safe.
 */
public final class NodeHealths {

    static final String GROUP = "gpuwarden.dev/v1alpha1";
    static final String KIND = "NodeHealth";
    static final String MANAGER = "gpuwarden-aggregator";

    /** Asks for one of them, whichever. */
    public static final String ONE = "/apis/" + GROUP + "/nodehealths?limit=1";

    private static final String PATH = "/apis/" + GROUP + "/nodehealths/";

    private final ClusterApi api;

    public NodeHealths(ClusterApi api) {
        this.api = api;
    }

    /**
     * The last event of this node that is in its `NodeHealth`; 0 where there is none. Makes the resource where it is missing.
     */
    public long acknowledged(String node) throws ClusterException, NoSuchNode, InterruptedException {
        Optional<Map<String, Object>> there = find(PATH + node);
        if (there.isEmpty()) {
            make(node);
            return 0;
        }
        return Fields.number(Fields.map(there.get(), "status"), "acknowledgedSequence");
    }

    /** When this returns, the state is kept for good. */
    public void write(NodeState state) throws ClusterException, NoSuchNode, InterruptedException {
        Map<String, Object> body = body(state.node(), Map.of("status", NodeStatus.tree(state)));
        try {
            var unused = api.apply(PATH + state.node() + "/status", MANAGER, body);
        } catch (ClusterException e) {
            if (!e.notFound()) {
                throw e;
            }
            // Somebody deleted it, or the Node is another one of the same name.
            make(state.node());
            var unused = api.apply(PATH + state.node() + "/status", MANAGER, body);
        }
    }

    private void make(String node) throws ClusterException, NoSuchNode, InterruptedException {
        Map<String, Object> owner = find("/api/v1/nodes/" + node).orElseThrow(() -> new NoSuchNode(node));
        Map<String, Object> reference = Map.of(
                "apiVersion",
                "v1",
                "kind",
                "Node",
                "name",
                node,
                "uid",
                Fields.text(Fields.map(owner, "metadata"), "uid"));
        var unused = api.apply(
                PATH + node,
                MANAGER,
                body(node, Map.of("metadata", Map.of("name", node, "ownerReferences", List.of(reference)))));
    }

    private Optional<Map<String, Object>> find(String path) throws ClusterException, InterruptedException {
        try {
            return Optional.of(api.get(path));
        } catch (ClusterException e) {
            if (e.notFound()) {
                return Optional.empty();
            }
            throw e;
        }
    }

    private static Map<String, Object> body(String node, Map<String, Object> more) {
        Map<String, Object> body = new java.util.LinkedHashMap<>();
        body.put("apiVersion", GROUP);
        body.put("kind", KIND);
        body.put("metadata", Map.of("name", node));
        body.putAll(more);
        return body;
    }
}
