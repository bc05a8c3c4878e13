package dev.gpuwarden.aggregator.tell;

import dev.gpuwarden.aggregator.cluster.ClusterApi;
import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.fleet.Fleet;
import dev.gpuwarden.aggregator.fleet.NodeRead;
import dev.gpuwarden.api.kube.Condition;
import dev.gpuwarden.api.kube.NodeConditions;
import dev.gpuwarden.api.kube.NodeView;
import dev.gpuwarden.core.event.Fault;
import java.time.Clock;
import java.util.List;
import java.util.Optional;

/** Keeps the conditions of Nodes as their fatal faults are. Thread-safe. */
public final class Conditions {

    /** Another one than the status of NodeHealth is applied by: what is applied replaces all that one has applied before. */
    static final String MANAGER = "gpuwarden-aggregator-conditions";

    private final ClusterApi api;
    private final Fleet fleet;
    private final Clock clock;

    public Conditions(ClusterApi api, Fleet fleet, Clock clock) {
        this.api = api;
        this.fleet = fleet;
        this.clock = clock;
    }

    /**
     * Blocks until the Node has the conditions that it must have.
     *
     * @param faults all that are current of a node that has told all
     * @return whether there was anything to write
     */
    public boolean settle(String node, List<Fault> faults) throws ClusterException, InterruptedException {
        Optional<NodeRead> there = fleet.node(node);
        if (there.isEmpty()) {
            return false;
        }
        Optional<List<Condition>> wanted =
                NodeConditions.change(faults, true, NodeView.of(there.get().tree(), MANAGER), clock.instant());
        if (wanted.isEmpty()) {
            return false;
        }
        try {
            var unused = fleet.wrote(
                    api.apply(Fleet.NODES.path(node) + "/status", MANAGER, NodeConditions.body(node, wanted.get())));
        } catch (ClusterException e) {
            if (!e.notFound()) {
                throw e;
            }
        }
        return true;
    }
}
