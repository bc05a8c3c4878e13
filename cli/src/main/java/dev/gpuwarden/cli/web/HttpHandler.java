package dev.gpuwarden.cli.web;

/** A part of what the server serves. Thread-safe: its requests come at the same time, on threads of its own. */
public interface HttpHandler {

    /** Whether a path is of this part. Called by the thread that serves all: must not wait. */
    boolean has(String path);

    /**
     * Answers a request whose path is of this part. May wait for some seconds, and must end when its thread is interrupted. What it
     * throws becomes a 500 without particulars.
     */
    HttpAnswer answer(Request request) throws InterruptedException;

    /** How many requests are answered at a time; others wait in a short queue. What an answer costs in memory, so often at most. */
    default int threads() {
        return 2;
    }

    /** Whether it asks by itself who may see it. */
    default boolean isGuarded() {
        return false;
    }
}
