package dev.gpuwarden.core.event;

import java.util.ArrayList;
import java.util.List;

/**
 * Reports of faults that found no room among the current ones and are not over. Without these faults the node's state
 * is unknown.
 *
 * @param shares those with fatal reports first, then by number; at most {@value #MOST_SHARES}, the last of which sums
 *     up all others
 */
public record LeftOut(List<Share> shares) {

    /** The number of shares, which bounds the names that reporters choose. */
    public static final int MOST_SHARES = 16;

    /** The agent name of the share that sums up all others. */
    public static final String OTHER = "other";

    public static final LeftOut NONE = new LeftOut(List.of());

    /**
     * The reports of one agent.
     *
     * @param reports events, each of which may report several faults
     * @param fatal those among them that report fatal faults
     */
    public record Share(String agent, long reports, long fatal) {}

    public LeftOut {
        shares = shares.size() <= MOST_SHARES ? List.copyOf(shares) : shortened(shares);
    }

    private static List<Share> shortened(List<Share> all) {
        List<Share> named = new ArrayList<>(all.subList(0, MOST_SHARES - 1));
        List<Share> rest = all.subList(MOST_SHARES - 1, all.size());
        named.add(new Share(
                OTHER,
                rest.stream().mapToLong(Share::reports).sum(),
                rest.stream().mapToLong(Share::fatal).sum()));
        return List.copyOf(named);
    }

    public boolean isEmpty() {
        return shares.isEmpty();
    }
}
