package dev.gpuwarden.cli.web;

import java.util.List;

/** A group of paths that the server serves. Thread-safe: requests arrive at the same time, on threads of its own. */
public interface HttpHandler {

    /** Returns whether this handler serves the path. Called on the event loop's thread; must not block. */
    boolean has(String path);

    /**
     * Returns the response to a request for a path of this handler. It may block for some seconds, and must end when
     * its thread is interrupted. An exception becomes a 500 without details.
     */
    HttpAnswer answer(Request request) throws InterruptedException;

    /** Returns the limits of this handler's requests, which are always the same. */
    default Limits limits() {
        return Limits.READING;
    }

    /** Returns whether the handler checks permissions itself. */
    default boolean isGuarded() {
        return false;
    }

    /**
     * The limits of one handler. A request over them is refused, and other handlers are served as before.
     *
     * @param methods in the order of the Allow header
     * @param bodyBytes of one request. The bodies that are arriving have this for each thread and each place in the queue
     * @param threads the number of requests that are answered at a time. The memory of an answer is needed this many
     *     times at most
     * @param queue the number of requests that wait for a thread
     */
    record Limits(List<String> methods, int bodyBytes, int threads, int queue) {

        /** Limits for pages and metrics. */
        public static final Limits READING = new Limits(List.of("GET", "HEAD"), 1024, 2, 64);

        public Limits withThreads(int number) {
            return new Limits(methods, bodyBytes, number, queue);
        }

        long arrivingBytes() {
            return (long) bodyBytes * (threads + queue);
        }
    }

    /** A handler that decides which requests the inner handler answers, or when. */
    interface Wrapper extends HttpHandler {

        HttpHandler handler();

        @Override
        default boolean has(String path) {
            return handler().has(path);
        }

        @Override
        default Limits limits() {
            return handler().limits();
        }

        @Override
        default boolean isGuarded() {
            return handler().isGuarded();
        }
    }
}
