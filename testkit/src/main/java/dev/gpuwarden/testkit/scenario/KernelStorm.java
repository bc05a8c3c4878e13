package dev.gpuwarden.testkit.scenario;

import java.util.List;
import java.util.Map;

/**
 * Many lines of the kernel log, the different ones in turn.
 *
 * @param texts with {@link LineText}'s names for what differs from node to node and from line to line
 * @param xids codes by GPU: each stands for the line that the driver writes for it
 */
public record KernelStorm(List<String> texts, Map<Integer, List<Integer>> xids, int count, int perSecond) {

    /** The same line again and again. */
    public static KernelStorm of(String text, int count, int perSecond) {
        return new KernelStorm(List.of(text), Map.of(), count, perSecond);
    }
}
