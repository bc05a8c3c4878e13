package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.aggregator.quarantine.ByHand;
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
record HandPatch(ClusterApi api, String program, boolean dryRun) {

    /** Of a node that changes all the time, each try reads it anew. */
    private static final int TRIES = 5;

    /**
     * What came of one node.
     *
     * @param read as it is now, as far as it was read or written; empty where it could not be
     */
    record Outcome(String node, ByHand.Plan plan, boolean written, Optional<NodeRead> read) {
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
    Outcome settle(String node, Function<NodeRead, ByHand.Plan> decide) throws InterruptedException {
        for (int left = TRIES; ; left--) {
            try {
                NodeRead read = NodeRead.of(api.get(Fleet.NODES.path(node)));
                ByHand.Plan plan = decide.apply(read);
                if (dryRun || plan.patch().isEmpty()) {
                    return new Outcome(node, plan, false, Optional.of(read));
                }
                Map<String, Object> now =
                        api.patch(Fleet.NODES.path(node) + "?fieldManager=gpuwarden-" + program, plan.patch());
                return new Outcome(node, plan, true, Optional.of(NodeRead.of(now)));
            } catch (ClusterException e) {
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
        return new Outcome(node, new ByHand.Plan(false, why, List.of()), false, Optional.empty());
    }
}
