package dev.gpuwarden.aggregator.objectmonitor;

import java.util.Optional;

/**
 * How much of a cluster a policy says is wrong. Pure.
 *
 * @param objects of its kind
 * @param matches of them; of those that are counted, none, since many of one node are what is looked for
 * @param nodes of the cluster
 * @param concerned of them, those that have or are to get a fault
 */
record Reach(int objects, int matches, int nodes, int concerned) {

    /**
     * How much that is, where it is more than half: a wrong expression is likelier than so many faults at the same time.
     *
     * @param least of fewer objects, or nodes, any number may be wrong
     */
    Optional<String> tooMuch(int least) {
        if (objects >= least && matches > objects / 2) {
            return Optional.of(matches + " of " + objects + " objects match");
        }
        return nodes >= least && concerned > nodes / 2
                ? Optional.of("its matches concern " + concerned + " of " + nodes + " nodes")
                : Optional.empty();
    }
}
