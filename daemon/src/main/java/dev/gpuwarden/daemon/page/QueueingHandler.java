package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import java.util.concurrent.Semaphore;

/**
 * A handler behind a guard whose checks may block: it has threads for waiting requests, but answers no more requests
 * at a time than before.
 */
record QueueingHandler(HttpHandler site, int waiting, Semaphore answering) implements HttpHandler {

    QueueingHandler(HttpHandler site, int waiting) {
        this(site, waiting, new Semaphore(site.threads()));
    }

    @Override
    public boolean has(String path) {
        return site.has(path);
    }

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        answering.acquire();
        try {
            return site.answer(request);
        } finally {
            answering.release();
        }
    }

    @Override
    public int threads() {
        return site.threads() + waiting;
    }
}
