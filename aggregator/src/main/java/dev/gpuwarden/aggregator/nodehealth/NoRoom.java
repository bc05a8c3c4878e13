package dev.gpuwarden.aggregator.nodehealth;

/** A monitor has told more faults of a node than its place in a `NodeHealth` holds. Nothing of it was written. */
public final class NoRoom extends Exception {

    private static final long serialVersionUID = 1;

    NoRoom(String node, String monitor, int faults) {
        super("NodeHealth " + node + ": " + faults + " faults told by " + monitor + ", expected at most "
                + MonitorFaults.MOST_FAULTS + " with " + MonitorFaults.MOST_BYTES + " bytes of text together");
    }
}
