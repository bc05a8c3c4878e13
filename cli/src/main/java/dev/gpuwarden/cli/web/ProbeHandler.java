package dev.gpuwarden.cli.web;

import java.util.List;

/** `/healthz`, whether the process answers, and `/readyz`, whether it can do its work. */
public final class ProbeHandler implements HttpHandler {

    /** What a program that is not ready lacks. */
    public interface Pending {
        /** One line for each thing; empty where nothing is lacking. May wait for some seconds. */
        List<String> now() throws InterruptedException;
    }

    /** What is wrong with a program that is ready nevertheless. */
    public interface Limitation {
        /** For people; empty where nothing is wrong. */
        String now();
    }

    private final Pending pending;
    private final Limitation limitation;

    public ProbeHandler(Pending pending, Limitation limitation) {
        this.pending = pending;
        this.limitation = limitation;
    }

    @Override
    public boolean has(String path) {
        return path.equals("/healthz") || path.equals("/readyz");
    }

    @Override
    public HttpAnswer answer(Request request) throws InterruptedException {
        if (request.path().equals("/healthz")) {
            return HttpAnswer.text(200, "ok\n");
        }
        List<String> lacking = pending.now();
        if (!lacking.isEmpty()) {
            return HttpAnswer.text(503, String.join("\n", lacking) + "\n");
        }
        String limited = limitation.now();
        return HttpAnswer.text(200, limited.isEmpty() ? "ok\n" : "ok, but " + limited + "\n");
    }
}
