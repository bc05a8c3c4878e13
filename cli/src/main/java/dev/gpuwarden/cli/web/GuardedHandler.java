package dev.gpuwarden.cli.web;

import java.util.Optional;

/** A handler for those whom a guard admits. */
public record GuardedHandler(HttpHandler handler, Guard guard) implements HttpHandler {

    /** Decides who may see a handler. Thread-safe. */
    public interface Guard {
        /** Why this request is not answered; empty where it may be. May wait for some seconds. */
        Optional<HttpAnswer> refused(Request request) throws InterruptedException;
    }

    @Override
    public boolean has(String path) {
        return handler.has(path);
    }

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        Optional<HttpAnswer> refused = guard.refused(request);
        return refused.isPresent() ? refused.get() : handler.answer(request);
    }

    @Override
    public int threads() {
        return handler.threads();
    }

    @Override
    public boolean isGuarded() {
        return true;
    }
}
