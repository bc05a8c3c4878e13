package dev.gpuwarden.nccl.plan;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** The groups of a run, of which each has a communicator of its own. Ranks of one color are a group. */
public final class Groups {

    private final List<Integer> colors;

    /** Ranks of each color, with the colors in the order of their first ranks. */
    private final Map<Integer, List<Integer>> members = new LinkedHashMap<>();

    /** @param colors of all ranks of the run, in their order */
    public Groups(List<Integer> colors) {
        this.colors = List.copyOf(colors);
        for (int rank = 0; rank < colors.size(); rank++) {
            members.computeIfAbsent(colors.get(rank), color -> new ArrayList<>())
                    .add(rank);
        }
    }

    /** Returns the number of a rank in its group. */
    public int rank(int ofRun) {
        return members(ofRun).indexOf(ofRun);
    }

    /** Returns the number of ranks in the group of this rank. */
    public int ranks(int ofRun) {
        return members(ofRun).size();
    }

    /** Returns the first rank of each group, in order. */
    public List<Integer> leaders() {
        return members.values().stream().map(group -> group.get(0)).toList();
    }

    /** Returns the place of a rank's group among {@link #leaders}. */
    public int group(int ofRun) {
        return leaders().indexOf(members(ofRun).get(0));
    }

    private List<Integer> members(int ofRun) {
        return members.getOrDefault(colors.get(ofRun), List.of());
    }

    private List<Integer> sizes() {
        return members.values().stream().map(List::size).toList();
    }

    /** Returns the size of a group that cannot run this collective; empty where all can. */
    public OptionalInt refused(Collective collective) {
        return sizes().stream()
                .mapToInt(size -> size)
                .filter(size -> !collective.accepts(size))
                .findFirst();
    }

    /** @throws IllegalArgumentException where groups would not take the same steps */
    public void check(Plan plan) {
        int least = sizes().stream().min(Integer::compare).orElseThrow();
        if (plan.root() >= least) {
            throw new IllegalArgumentException("-r must be below the number of ranks"
                    + (members.size() > 1 ? " of the smallest group, " : ", ") + least);
        }
        boolean differ = sizes().stream().anyMatch(size -> size != least);
        if (plan.root() < 0 && plan.collective().hasRoot() && differ) {
            throw new IllegalArgumentException(
                    "-r -1 needs groups of one size, and NCCL_TESTS_SPLIT gives groups with these numbers of ranks: "
                            + sizes());
        }
    }
}
