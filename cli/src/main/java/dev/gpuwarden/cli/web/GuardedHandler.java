package dev.gpuwarden.cli.web;

import java.util.Optional;

/** A handler behind a guard, which refuses requests without permission. */
public record GuardedHandler(HttpHandler handler, Guard guard) implements HttpHandler.Wrapper {

    /** A decision which requests the handler may answer. Thread-safe. */
    public interface Guard {
        /** Returns the refusal; empty where the request is permitted. It may block for some seconds. */
        Optional<HttpAnswer> refused(Request request) throws InterruptedException;
    }

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        Optional<HttpAnswer> refused = guard.refused(request);
        return refused.isPresent() ? refused.get() : handler.answer(request);
    }

    @Override
    public boolean isGuarded() {
        return true;
    }
}
