package dev.gpuwarden.aggregator.nodestatus;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.client.KubeClient;
import dev.gpuwarden.api.kube.Condition;
import dev.gpuwarden.api.kube.NodeConditions;
import dev.gpuwarden.api.kube.NodeView;
import dev.gpuwarden.core.event.Fault;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** A reconciler of the conditions of Nodes with their fatal faults. Thread-safe. */
public record ConditionReconciler(KubeClient api, Clock clock) {

    /** Not the field manager of NodeHealth's status, since each apply replaces all earlier fields of its manager. */
    static final String MANAGER = "gpuwarden-aggregator-conditions";

    /**
     * Writes the conditions that the Node must have. Blocks until they are stored. The watch delivers the result, which is not
     * read from the answer. An apply accepts any version, so the answer may contain changes without a decision yet.
     *
     * @param faults the known faults
     * @param whole true if these are all faults; otherwise conditions without a fault in the list stay
     */
    public void settle(CachedNode node, List<Fault> faults, boolean whole) throws ApiException, InterruptedException {
        Optional<List<Condition>> wanted =
                NodeConditions.change(faults, whole, NodeView.of(node.tree(), MANAGER), clock.instant());
        if (wanted.isEmpty()) {
            return;
        }
        try {
            var unused = api.apply(
                    NodeCache.NODES.path(node.name()) + "/status",
                    MANAGER,
                    NodeConditions.body(node.name(), wanted.get()));
        } catch (ApiException e) {
            if (!e.notFound()) {
                throw e;
            }
        }
    }
}
