package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import java.io.IOException;

/** A `NodeHealth` that cannot be read or written, with the reason. */
public abstract class NodeHealthException extends Exception {

    private static final long serialVersionUID = 1;

    private NodeHealthException(String message) {
        super(message);
    }

    /** A name that no Node of the cluster has, so a NodeHealth would have no owner. */
    public static final class NoSuchNode extends NodeHealthException {

        private static final long serialVersionUID = 1;

        NoSuchNode(String node) {
            super("the cluster has no Node '" + node + "'");
        }
    }

    /** More faults of a node than the place of their monitor in a `NodeHealth` holds. None of them was written. */
    public static final class NoRoom extends NodeHealthException {

        private static final long serialVersionUID = 1;

        NoRoom(String node, String monitor, int faults) {
            super("NodeHealth " + node + ": " + faults + " faults reported by " + monitor + ", expected at most "
                    + MonitorFaults.MOST_FAULTS + " with " + MonitorFaults.MOST_BYTES + " bytes of text together");
        }
    }

    /** A state that is too old to write: the cluster has a newer one of that node. */
    public static final class Superseded extends NodeHealthException {

        private static final long serialVersionUID = 1;

        private final boolean otherNode;

        private Superseded(boolean otherNode, String message) {
            super(message);
            this.otherNode = otherNode;
        }

        static Superseded otherNode() {
            return new Superseded(true, "the cluster's Node of this name was replaced since the stream began");
        }

        static Superseded newerStream(StreamEpoch there) {
            return new Superseded(false, "the node has opened a newer stream to " + there.reporter());
        }

        /** Returns true if the state is of a deleted Node, false if it is of an older stream of the same Node. */
        public boolean isOtherNode() {
            return otherNode;
        }
    }

    /**
     * A `NodeHealth` that differs from those of this program. The message contains the field, the expected and the seen value.
     */
    public static final class UnreadableNodeHealth extends NodeHealthException {

        private static final long serialVersionUID = 1;

        UnreadableNodeHealth(IOException wrong) {
            super(String.valueOf(wrong.getMessage()));
        }
    }
}
