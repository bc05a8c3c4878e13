package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.cluster.Kind;
import dev.gpuwarden.aggregator.cluster.Mirror;
import dev.gpuwarden.aggregator.json.JsonText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * All Nodes and their NodeHealths, as the API server told them last. Kept as JSON, since 10,000 trees of objects would take ten
 * times the memory; one is read in 50 us. Thread-safe.
 */
public final class Fleet {

    public static final Kind NODES = Kind.ofCluster("", "v1", "nodes", "Node");

    public static final Kind HEALTHS = Kind.ofCluster("gpuwarden.dev", "v1alpha1", "nodehealths", "NodeHealth");

    /** Nodes that were looked at just now are looked at again, by the same thread and on the next change. */
    private static final int READ = 512;

    /** Told while nothing else of the fleet changes: must be quick. */
    public interface Listener {
        /**
         * @param node empty if it is gone
         * @param ours whether this program has written that, so that it knows
         */
        void node(String name, Optional<NodeRead> node, boolean ours);

        void health(String name);
    }

    private record Kept(String uid, long version, byte[] json) {}

    private final Listener listener;
    private final Map<String, Kept> nodes = new ConcurrentHashMap<>();
    private final Map<String, NodeRead> read = Collections.synchronizedMap(new LinkedHashMap<>(READ, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, NodeRead> eldest) {
            return size() > READ;
        }
    });
    private final Map<String, byte[]> healths = new ConcurrentHashMap<>();

    public Fleet(Listener listener) {
        this.listener = listener;
    }

    public Optional<NodeRead> node(String name) {
        NodeRead just = read.get(name);
        if (just != null) {
            return Optional.of(just);
        }
        return Optional.ofNullable(nodes.get(name)).map(kept -> NodeRead.of(read(kept.json())));
    }

    /** As the API server has it; empty where there is none. */
    public Optional<Map<String, Object>> health(String name) {
        return Optional.ofNullable(healths.get(name)).map(Fleet::read);
    }

    /** The NodeHealth as the API server has it at this moment, which the watch may not have told yet. */
    public void read(String name, Map<String, Object> health) {
        healths.put(name, write(Lean.other(health)));
    }

    /** Names of all Nodes; follows what changes meanwhile. */
    public Set<String> names() {
        return nodes.keySet();
    }

    /**
     * What the API server answered to a write of a Node, which is here before the watch tells it. Only of a write that held for
     * the version that was known here: nobody looks at it again, and what somebody else has changed would go unseen.
     */
    public NodeRead wrote(Map<String, Object> tree) {
        NodeRead node = NodeRead.of(Lean.node(tree));
        keep(node, false);
        return node;
    }

    private synchronized void keep(NodeRead node, boolean anew) {
        @Nullable Kept before = nodes.get(node.name());
        long version = version(node);
        if (before == null || !before.uid().equals(node.uid())) {
            if (!anew) {
                return;
            }
        } else if (before.version() >= version && version > 0) {
            return;
        }
        nodes.put(node.name(), new Kept(node.uid(), version, write(node.tree())));
        read.put(node.name(), node);
        listener.node(node.name(), Optional.of(node), !anew);
    }

    /** Numbers that rise, says Kubernetes since 1.35; any other text is as old as can be. */
    private static long version(NodeRead node) {
        try {
            return Long.parseLong(node.resourceVersion());
        } catch (NumberFormatException e) {
            return 0;
        }
    }

    private synchronized void gone(String name) {
        if (nodes.remove(name) != null) {
            read.remove(name);
            listener.node(name, Optional.empty(), false);
        }
    }

    /** What follows the Nodes. */
    public Mirror.Listener nodes() {
        return new Mirror.Listener() {
            @Override
            public void there(String name, Map<String, Object> tree) {
                keep(NodeRead.of(Lean.node(tree)), true);
            }

            @Override
            public void gone(String name) {
                Fleet.this.gone(name);
            }

            @Override
            public void complete() {}
        };
    }

    /** What follows the NodeHealths. */
    public Mirror.Listener healths() {
        return new Mirror.Listener() {
            @Override
            public void there(String name, Map<String, Object> tree) {
                healths.put(name, write(Lean.other(tree)));
                listener.health(name);
            }

            @Override
            public void gone(String name) {
                healths.remove(name);
                listener.health(name);
            }

            @Override
            public void complete() {}
        };
    }

    private static byte[] write(Map<String, Object> tree) {
        return JsonText.write(tree).getBytes(StandardCharsets.UTF_8);
    }

    private static Map<String, Object> read(byte[] json) {
        try {
            return JsonText.readObject(new String(json, StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException("was written here", e);
        }
    }
}
