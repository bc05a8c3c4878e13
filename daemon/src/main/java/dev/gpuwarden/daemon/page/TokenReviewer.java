package dev.gpuwarden.daemon.page;

import java.util.concurrent.CompletableFuture;

/** Asks somebody who knows people's rights whether a token opens this node's page. Thread-safe. */
public interface TokenReviewer {

    /** What was answered. */
    enum Outcome {
        ALLOWED,
        DENIED,
        /** It cannot be checked now. */
        UNKNOWN
    }

    /** @param why for the person who shows the token; empty where it opens the page */
    record Verdict(Outcome outcome, String why) {

        public static Verdict unknown(String why) {
            return new Verdict(Outcome.UNKNOWN, why);
        }
    }

    /** Never waits. The answer comes within some seconds, and is never a failure. */
    CompletableFuture<Verdict> ask(String token);
}
