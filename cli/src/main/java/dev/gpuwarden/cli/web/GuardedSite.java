package dev.gpuwarden.cli.web;

import java.util.Optional;

/** A site for those whom a guard admits. */
public record GuardedSite(Site site, Guard guard) implements Site {

    /** Decides who may see a site. Thread-safe. */
    public interface Guard {
        /** Why this request is not answered; empty where it may be. May wait for some seconds. */
        Optional<Answer> refused(Request request) throws InterruptedException;
    }

    @Override
    public boolean has(String path) {
        return site.has(path);
    }

    @Override
    public Answer answer(Request request) throws InterruptedException {
        Optional<Answer> refused = guard.refused(request);
        return refused.isPresent() ? refused.get() : site.answer(request);
    }

    @Override
    public int threads() {
        return site.threads();
    }

    @Override
    public boolean isGuarded() {
        return true;
    }
}
