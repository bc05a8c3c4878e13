package dev.gpuwarden.aggregator.maintenance;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A stage of a node's repair, with its times.
 *
 * @param begin start of the stage; empty before it, or if it is unknown
 * @param end end of the stage; empty before it, or if it is unknown
 * @param resource kind and name of the maintenance resource that the stage belongs to; empty for a stage of the node
 * @param why reason of the state, in one line; empty without one
 */
public record Stage(
        String name, State state, Optional<Instant> begin, Optional<Instant> end, String resource, String why) {

    /** The states of a stage. */
    public enum State {
        DONE,
        IN_PROGRESS,
        /** It goes on when another program or an operator has acted. */
        WAITING,
        FAILED,
        NOT_NEEDED,
        NOT_YET,
        /** It could not be read. */
        UNKNOWN;

        /** Returns the name in texts and JSON, for example `in-progress`. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** Returns a stage without times. */
    public static Stage of(String name, State state, String why) {
        return new Stage(name, state, Optional.empty(), Optional.empty(), "", why);
    }

    public Stage owned(String owner) {
        return new Stage(name, state, begin, end, owner, why);
    }

    public Stage from(Optional<Instant> start) {
        return new Stage(name, state, start, end, resource, why);
    }

    public Stage until(Optional<Instant> stop) {
        return new Stage(name, state, begin, stop, resource, why);
    }

    /** Returns the duration; empty without both times. Times of two clocks never give a negative one. */
    public Optional<Duration> took() {
        return begin.flatMap(start -> end.map(stop -> Duration.between(start, stop)))
                .map(time -> time.isNegative() ? Duration.ZERO : time);
    }

    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("stage", name);
        tree.put("state", state.label());
        tree.put("begin", begin.map(Instant::toString));
        tree.put("end", end.map(Instant::toString));
        tree.put("seconds", took().map(Duration::toSeconds));
        tree.put("resource", resource);
        tree.put("why", why);
        return tree;
    }
}
