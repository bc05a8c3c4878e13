package dev.gpuwarden.aggregator.janitor;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The steps of a rehearsal of the janitor.
 *
 * @param why reason of the end
 */
public record JanitorWalk(List<Walked> steps, Result result, String why) {

    public JanitorWalk {
        steps = List.copyOf(steps);
    }

    /** The end of the steps. */
    public enum Result {
        SUCCEEDS,
        /** The resource waits for another one, which has the lock of the node. */
        WAITS,
        /** The janitor refuses the resource, or leaves it to another program. */
        FAILS
    }

    /** A write to validate; its object does not depend on objects that were not made. */
    public sealed interface Write {

        /** No write, or one that depends on objects that do not exist. */
        record None() implements Write {}

        /** @param path path of the collection */
        record Create(String path, Map<String, Object> body) implements Write {}

        /** A JSON patch of the Node. */
        record PatchNode(List<Map<String, Object>> operations) implements Write {}
    }

    /**
     * A step.
     *
     * @param most the janitor's limit for the wait before the next step; empty without one
     */
    public record Walked(String text, Optional<Duration> most, Write write) {}
}
