package dev.gpuwarden.aggregator.drain;

import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * What came of the drain of a node by a person.
 *
 * @param why for people, where the pods do not say it all
 * @param began when the node was known to take no pods
 */
public record HandResult(Outcome outcome, String why, List<HandPod> pods, Instant began, Instant ended) {

    public enum Outcome {
        /** No pod is in the way. */
        DRAINED,
        /** Pods are left that a person has to see to. */
        LEFT,
        /** Its time is over. */
        TIMEOUT,
        /** Somebody has put the node back into service, or it is gone. */
        RELEASED,
        /** Whoever asked for it wants it no more. */
        STOPPED,
        /** Who holds the GPUs cannot be told, or the pods cannot be seen. */
        UNDECIDED;

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    public HandResult {
        pods = List.copyOf(pods);
    }
}
