package dev.gpuwarden.core.event;

import java.util.HashMap;
import java.util.Map;

/**
 * A bounded quota that agents share, so that no agent displaces another agent's fatal faults. One agent may use half
 * of it, reports that are not fatal half, and those of one agent a quarter. Not thread-safe.
 */
public final class Room {

    private final int most;
    private final Use all = new Use();
    private final Map<String, Use> byAgent = new HashMap<>();

    private static final class Use {
        private int sum;
        private int notFatal;
    }

    /**
     * Creates an unused quota.
     *
     * @param most its size, in the unit that is counted: faults, characters or series
     */
    public Room(int most) {
        this.most = most;
    }

    /** Returns the amount that an agent may still take; 0 or less if it may take none. */
    public int left(String agent, boolean fatal) {
        Use own = byAgent.getOrDefault(agent, new Use());
        int left = Math.min(most - all.sum, most / 2 - own.sum);
        return fatal ? left : Math.min(left, Math.min(most / 2 - all.notFatal, most / 4 - own.notFatal));
    }

    /**
     * Takes an amount, or gives it back.
     *
     * @param amount the amount to take; a negative one is given back
     */
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
