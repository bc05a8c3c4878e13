package dev.gpuwarden.cli.web;

import java.util.List;
import java.util.function.Supplier;

/**
 * The probes: `/healthz` succeeds while the process answers, `/readyz` while it can do its work.
 *
 * @param limitation returns the limitation of a program that is ready; empty where there is none
 */
public record ProbeHandler(Pending pending, Supplier<String> limitation) implements HttpHandler {

    /** The missing conditions of a program that is not ready. */
    public interface Pending {
        /** Returns one line for each missing condition; empty where the program is ready. It may block for some seconds. */
        List<String> now() throws InterruptedException;
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
        String limited = limitation.get();
        return HttpAnswer.text(200, limited.isEmpty() ? "ok\n" : "ok, but " + limited + "\n");
    }
}
