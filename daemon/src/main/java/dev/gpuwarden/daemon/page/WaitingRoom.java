package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;
import java.util.concurrent.Semaphore;

/** A site behind a door at which some may wait: it has threads for them, and no more answers at a time than before. */
record WaitingRoom(Site site, int waiting, Semaphore answering) implements Site {

    WaitingRoom(Site site, int waiting) {
        this(site, waiting, new Semaphore(site.threads()));
    }

    @Override
    public boolean has(String path) {
        return site.has(path);
    }

    @Override
    public Answer answer(Request request) throws InterruptedException {
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
