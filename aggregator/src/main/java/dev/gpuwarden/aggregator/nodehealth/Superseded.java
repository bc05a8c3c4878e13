package dev.gpuwarden.aggregator.nodehealth;

/** What was to be written is old: the cluster has something of that node that came later. */
public final class Superseded extends Exception {

    private static final long serialVersionUID = 1;

    private final boolean otherNode;

    private Superseded(boolean otherNode, String message) {
        super(message);
        this.otherNode = otherNode;
    }

    static Superseded otherNode() {
        return new Superseded(true, "the cluster's Node of this name is another one than when the stream began");
    }

    static Superseded newerStream(StreamEpoch there) {
        return new Superseded(false, "the node has opened a newer stream to " + there.reporter());
    }

    /** Whether it was told of a Node that is gone, and not on an older stream of the same. */
    public boolean isOtherNode() {
        return otherNode;
    }
}
