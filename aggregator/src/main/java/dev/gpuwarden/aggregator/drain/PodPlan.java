package dev.gpuwarden.aggregator.drain;

import java.time.Instant;
import java.util.Optional;

/**
 * What is to become of one pod.
 *
 * @param reason for people; empty where the step says it all
 * @param at when the step is due, or should be over; empty where there is no such time
 * @param began since when it has to go
 * @param holds whether it is not asked to go, and holds a GPU nevertheless
 */
public record PodPlan(PodView pod, Step step, String reason, Optional<Instant> at, Instant began, boolean holds) {

    /** Of a pod that goes, or holds nothing up. */
    public PodPlan(PodView pod, Step step, String reason, Optional<Instant> at, Instant began) {
        this(pod, step, reason, at, began, false);
    }

    public enum Step {
        /** Now. */
        EVICT,
        /** It is to be told of its end, so that it can save its work. */
        SIGNAL,
        /** It was told, and has time to save its work. */
        CHECKPOINT,
        /** When its time is over. */
        DELETE,
        /** It ends by itself. */
        AWAIT,
        /** Somebody has asked for its end, which is awaited. */
        GOING,
        /** It has to go, and a person has to see to that. */
        STAYS,
        /** It is in nobody's way. */
        LEFT
    }

    /** Whether somebody has to ask for something now. */
    boolean isDue(Instant now) {
        boolean asks = step == Step.EVICT || step == Step.SIGNAL || step == Step.DELETE;
        return asks && !at.orElse(now).isAfter(now);
    }

    /** Whether the drain is not over while it is there. */
    public boolean inTheWay() {
        return step != Step.LEFT;
    }
}
