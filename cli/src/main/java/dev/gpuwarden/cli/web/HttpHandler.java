package dev.gpuwarden.cli.web;

/** A group of paths that the server serves. Thread-safe: requests arrive at the same time, on threads of its own. */
public interface HttpHandler {

    /** Returns whether this handler serves the path. Called on the event loop's thread; must not block. */
    boolean has(String path);

    /**
     * Returns the response to a request for a path of this handler. It may block for some seconds, and must end when
     * its thread is interrupted. An exception becomes a 500 without details.
     */
    HttpAnswer answer(Request request) throws InterruptedException;

    /**
     * Returns the number of requests that are answered at a time; others wait in a short queue. The memory of an answer
     * is needed this many times at most.
     */
    default int threads() {
        return 2;
    }

    /** Returns whether the handler checks permissions itself. */
    default boolean isGuarded() {
        return false;
    }

    /** A handler that decides which requests the inner handler answers, or when. */
    interface Wrapper extends HttpHandler {

        HttpHandler handler();

        @Override
        default boolean has(String path) {
            return handler().has(path);
        }

        @Override
        default int threads() {
            return handler().threads();
        }

        @Override
        default boolean isGuarded() {
            return handler().isGuarded();
        }
    }
}
