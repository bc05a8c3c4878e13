package dev.gpuwarden.aggregator.objectmonitor;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Which objects are reported of a Node, in its annotation: for people, nothing here reads it. */
final class PolicyMatches {

    /** As NVSentinel has it; keys are policy/namespace/name, with commas between; policy alone where objects are counted. */
    static final String ANNOTATION = "nvsentinel.dgxc.nvidia.com/policy-matches";

    private static final String MANAGER = "gpuwarden-object-monitor";
    private static final int MOST = 64;

    private final KubeClient api;

    PolicyMatches(KubeClient api) {
        this.api = api;
    }

    static String text(Collection<Match.Key> keys) {
        List<String> all = keys.stream().map(Match.Key::toString).sorted().toList();
        String some = all.stream().limit(MOST).collect(Collectors.joining(","));
        return all.size() <= MOST ? some : some + ",and " + (all.size() - MOST) + " more";
    }

    /** Blocks until the Node has it; the answer is left to the watch. */
    void settle(CachedNode node, Collection<Match.Key> keys) throws ApiException, InterruptedException {
        String wanted = text(keys);
        if (node.annotations().getOrDefault(ANNOTATION, "").equals(wanted)) {
            return;
        }
        Map<String, Object> metadata = new LinkedHashMap<>();
        metadata.put("name", node.name());
        // Of a Node that is gone none would be made.
        metadata.put("uid", node.uid());
        if (!wanted.isEmpty()) {
            metadata.put("annotations", Map.of(ANNOTATION, wanted));
        }
        try {
            var unused = api.apply(
                    NodeCache.NODES.path(node.name()),
                    MANAGER,
                    Map.of("apiVersion", "v1", "kind", "Node", "metadata", metadata));
        } catch (ApiException e) {
            if (!e.notFound() && !e.conflict()) {
                throw e;
            }
        }
    }
}
