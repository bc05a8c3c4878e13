package dev.gpuwarden.aggregator.quarantine;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.controller.StepModes;
import dev.gpuwarden.aggregator.controller.WorkQueue;
import dev.gpuwarden.aggregator.nodestatus.NodeNews;
import java.util.List;
import java.util.Optional;

/** A step that follows the quarantine of a node: its drain, or its repair. Thread-safe. */
public interface NodeStep {

    /** Returns the queue that receives each node after its decision; empty if the step is off. */
    Optional<WorkQueue> queue();

    /** Returns the modes with that of this step. */
    StepModes in(StepModes others);

    /** Returns the Events of a Node's annotations, also those of an earlier mode. */
    List<NodeNews> events(CachedNode node);

    /** Returns the Events of a dry run of a node. */
    List<NodeNews> rehearsal(String node);

    /**
     * Returns what is under way on a node, so that it must not return to service; empty if nothing is. Blocks for the API server.
     *
     * @throws ApiException if the API server does not answer: the node stays, and the caller retries
     */
    default Optional<String> inProgress(CachedNode node) throws ApiException, InterruptedException {
        return Optional.empty();
    }
}
