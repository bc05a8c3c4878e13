package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;

/** A `NodeHealth` that cannot be read or written, with the reason. */
public abstract class NodeHealthException extends Exception {

    private static final long serialVersionUID = 1;

    private NodeHealthException(String message) {
        super(message);
    }

    /** The cluster has no Node of this name, so there is nobody whose health this would be. */
    public static final class NoSuchNode extends NodeHealthException {

        private static final long serialVersionUID = 1;

        NoSuchNode(String node) {
            super("the cluster has no Node '" + node + "'");
        }
    }

    /** A monitor has told more faults of a node than its place in a `NodeHealth` holds. Nothing of it was written. */
    public static final class NoRoom extends NodeHealthException {

        private static final long serialVersionUID = 1;

        NoRoom(String node, String monitor, int faults) {
            super("NodeHealth " + node + ": " + faults + " faults told by " + monitor + ", expected at most "
                    + MonitorFaults.MOST_FAULTS + " with " + MonitorFaults.MOST_BYTES + " bytes of text together");
        }
    }

    /** What was to be written is old: the cluster has something of that node that came later. */
    public static final class Superseded extends NodeHealthException {

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

    /** A `NodeHealth` that is not as this program writes them. The message names the field, what was expected and what was seen. */
    public static final class UnreadableNodeHealth extends NodeHealthException {

        private static final long serialVersionUID = 1;

        UnreadableNodeHealth(String message) {
            super(message);
        }
    }
}
