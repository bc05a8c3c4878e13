package dev.gpuwarden.aggregator.drain;

import java.time.Instant;
import java.util.Locale;

/**
 * What has become of a pod of a node that a person drains.
 *
 * @param path `NAMESPACE/NAME`
 * @param why for people; empty where the state says it all
 * @param since when its state is so
 * @param seen when it was first there
 */
public record HandPod(String path, String uid, State state, String why, Instant since, Instant seen) {

    public enum State {
        /** It was in the way, and has ended. */
        GONE,
        /** It is told that its end is near, and has time to save its work. */
        SAVES,
        /** It is asked to end now. */
        EVICT,
        /** It is not let go, which is tried again. */
        REFUSED,
        /** Somebody has asked for its end, which is awaited. */
        GOING,
        /** It ends by itself. */
        AWAIT,
        /** It is in the way, and a person has to see to that. */
        STAYS,
        /** It is in nobody's way. */
        LEFT;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Whether the node is not drained while it is there. */
    public boolean inTheWay() {
        return state != State.GONE && state != State.LEFT;
    }

    /** Whether something keeps it there, now or for good. */
    boolean kept() {
        return state == State.REFUSED || state == State.STAYS;
    }

    /** Whether it is to be awaited: it may go without a person. */
    boolean awaited() {
        return inTheWay() && state != State.STAYS;
    }
}
