package dev.gpuwarden.core.event;

import java.util.HashMap;
import java.util.Map;

/**
 * Bounded room for what agents report, shared so that none of them crowds out another's fatal faults: one agent may take half
 * of it, what is not fatal half, and what is not fatal of one agent a quarter. Not thread-safe.
 */
public final class Room {

    private final int most;
    private final Use all = new Use();
    private final Map<String, Use> byAgent = new HashMap<>();

    private static final class Use {
        private int sum;
        private int notFatal;
    }

    /** @param most the whole room, in the unit that is counted: faults, characters or series */
    public Room(int most) {
        this.most = most;
    }

    /** How much more an agent may take now; 0 or less where it may take none. */
    public int left(String agent, boolean fatal) {
        Use own = byAgent.getOrDefault(agent, new Use());
        int left = Math.min(most - all.sum, most / 2 - own.sum);
        return fatal ? left : Math.min(left, Math.min(most / 2 - all.notFatal, most / 4 - own.notFatal));
    }

    /** @param amount below 0 is given back */
    public void take(String agent, boolean fatal, int amount) {
        Use own = byAgent.computeIfAbsent(agent, name -> new Use());
        all.sum += amount;
        own.sum += amount;
        if (!fatal) {
            all.notFatal += amount;
            own.notFatal += amount;
        }
        if (own.sum == 0) {
            byAgent.remove(agent);
        }
    }
}
