package dev.gpuwarden.aggregator.nodehealth;

/** The cluster has no Node of this name, so there is nobody whose health this would be. */
public final class NodeHealthException extends Exception {

    private static final long serialVersionUID = 1;

    NodeHealthException(String node) {
        super("the cluster has no Node '" + node + "'");
    }
}
