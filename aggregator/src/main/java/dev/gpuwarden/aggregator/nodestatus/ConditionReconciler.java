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

/** Keeps the conditions of Nodes as their fatal faults are. Thread-safe. */
public final class ConditionReconciler {

    /** Another one than the status of NodeHealth is applied by: what is applied replaces all that one has applied before. */
    static final String MANAGER = "gpuwarden-aggregator-conditions";

    private final KubeClient api;
    private final Clock clock;

    public ConditionReconciler(KubeClient api, Clock clock) {
        this.api = api;
        this.clock = clock;
    }

    /**
     * Blocks until the Node has the conditions that it must have. The answer is left to the watch: an apply holds for whatever
     * version is there, so there may be something in it that nobody has decided about yet.
     *
     * @param faults those that are known
     * @param whole whether these are all; what is not among them is left as it is otherwise
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
