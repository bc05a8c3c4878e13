package dev.gpuwarden.daemon.page;

import java.util.concurrent.CompletableFuture;

/** A reviewer of tokens for this node's page. Thread-safe. */
public interface TokenReviewer {

    /** The outcome of a review. */
    enum Outcome {
        ALLOWED,
        DENIED,
        /** The token cannot be reviewed now. */
        UNKNOWN
    }

    /** The result of a review; {@code why} is for the client, and empty if the token opens the page. */
    record Verdict(Outcome outcome, String why) {

        public static Verdict unknown(String why) {
            return new Verdict(Outcome.UNKNOWN, why);
        }
    }

    /** Starts a review. Does not block. The future completes within some seconds and never fails. */
    CompletableFuture<Verdict> ask(String token);
}
