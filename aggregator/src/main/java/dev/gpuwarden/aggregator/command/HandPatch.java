package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * Changes a node as a person wants it, by one patch for the version that it was decided on.
 *
 * @param program by which name the API server knows who has written
 * @param dryRun whether nothing is to be written
 */
record HandPatch(KubeClient api, String program, boolean dryRun) {

    /** Of a node that changes all the time, each try reads it anew. */
    private static final int TRIES = 5;

    /**
     * What came of one node.
     *
     * @param read as it is now, as far as it was read or written; empty where it could not be
     */
    record Outcome(String node, ManualCordon.Plan plan, boolean written, Optional<CachedNode> read) {
        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("name", node);
            tree.put("done", plan.done());
            tree.put("why", plan.why());
            tree.put("written", written);
            tree.put("patch", plan.patch());
            return tree;
        }
    }

    /** Blocks. */
    Outcome settle(String node, Function<CachedNode, ManualCordon.Plan> decide) throws InterruptedException {
        for (int left = TRIES; ; left--) {
            try {
                CachedNode read = CachedNode.of(api.get(NodeCache.NODES.path(node)));
                ManualCordon.Plan plan = decide.apply(read);
                if (dryRun || plan.patch().isEmpty()) {
                    return new Outcome(node, plan, false, Optional.of(read));
                }
                Map<String, Object> now =
                        api.patch(NodeCache.NODES.path(node) + "?fieldManager=gpuwarden-" + program, plan.patch());
                return new Outcome(node, plan, true, Optional.of(CachedNode.of(now)));
            } catch (ApiException e) {
                if (e.notFound()) {
                    return failed(node, "the cluster has no such Node");
                }
                // Somebody has changed it between reading and writing.
                boolean again = (e.conflict() || e.invalid()) && left > 1;
                if (!again) {
                    return failed(node, String.valueOf(e.getMessage()));
                }
            }
        }
    }

    private static Outcome failed(String node, String why) {
        return new Outcome(node, new ManualCordon.Plan(false, why, List.of()), false, Optional.empty());
    }
}
