package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.web.StaticHandler;
import java.util.List;

/** The static files of the page, at `/`. */
public final class PageHandler {

    private static final String CHARTS = "/META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js";

    private PageHandler() {}

    public static StaticHandler create() {
        StaticHandler files = new StaticHandler(PageHandler.class);
        for (String script :
                List.of("main.js", "about.js", "node.js", "memory.js", "budgets.js", "events.js", "recording.js")) {
            files.script(PageHandler.class, script);
        }
        return files.file("/page/chart.js", PageHandler.class, CHARTS);
    }
}
