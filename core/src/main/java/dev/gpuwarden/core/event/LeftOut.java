package dev.gpuwarden.core.event;

import java.util.ArrayList;
import java.util.List;

/**
 * Reports of faults that found no room among the current ones, and are not over: nobody can say what the node is without them.
 *
 * @param shares those with fatal reports first, then by number; at most {@value #MOST_SHARES}, what is beyond is one share
 */
public record LeftOut(List<Share> shares) {

    /** Names come from reporters. */
    public static final int MOST_SHARES = 16;

    /** The agent of what is beyond. */
    public static final String OTHER = "other";

    public static final LeftOut NONE = new LeftOut(List.of());

    /**
     * What one agent reported.
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

    public long reports() {
        return shares.stream().mapToLong(Share::reports).sum();
    }
}
