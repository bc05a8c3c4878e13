package dev.gpuwarden.watchdog.pressure;

import java.util.List;
import java.util.Set;

/**
 * The pressure on one GPU.
 *
 * @param triggers its reasons; empty where there is none
 * @param floorBytes the floor of this card
 * @param promisedBytes what budgets promise beyond present use
 * @param deficitSinceNanos start of the deficit; only where it is a reason
 * @param starved workloads within their budgets that fail to allocate
 */
public record Pressure(
        Set<Trigger> triggers, long floorBytes, long promisedBytes, long deficitSinceNanos, List<String> starved) {

    public Pressure {
        triggers = Set.copyOf(triggers);
        starved = List.copyOf(starved);
    }

    public boolean has(Trigger trigger) {
        return triggers.contains(trigger);
    }
}
