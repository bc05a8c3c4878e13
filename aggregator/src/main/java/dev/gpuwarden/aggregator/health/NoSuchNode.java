package dev.gpuwarden.aggregator.health;

/** The cluster has no Node of this name, so there is nobody whose health this would be. */
public final class NoSuchNode extends Exception {

    private static final long serialVersionUID = 1;

    NoSuchNode(String node) {
        super("the cluster has no Node '" + node + "'");
    }
}
