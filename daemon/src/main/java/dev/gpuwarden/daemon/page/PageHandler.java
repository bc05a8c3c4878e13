package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.web.HttpAnswer;
import dev.gpuwarden.cli.web.HttpHandler;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.StaticHandler;
import java.util.List;

/** The static files of the page, at `/`. */
public final class PageHandler implements HttpHandler {

    private static final String CHARTS = "/META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js";

    private final StaticHandler files = new StaticHandler(PageHandler.class);

    public PageHandler() {
        for (String script : List.of("main.js", "about.js", "node.js", "memory.js", "events.js", "recording.js")) {
            files.script(PageHandler.class, script);
        }
        files.file("/page/chart.js", PageHandler.class, CHARTS);
    }

    @Override
    public boolean has(String path) {
        return files.has(path);
    }

    @Override
    public HttpAnswer answer(Request request) {
        return files.answer(request);
    }
}
