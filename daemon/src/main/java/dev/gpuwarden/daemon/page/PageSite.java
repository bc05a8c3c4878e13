package dev.gpuwarden.daemon.page;

import dev.gpuwarden.cli.web.Answer;
import dev.gpuwarden.cli.web.Request;
import dev.gpuwarden.cli.web.Site;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;

/** `/` and the files that it is made of. Read from the class path when asked for, since few ever ask. */
public final class PageSite implements Site {

    private static final String FOLDER = "/dev/gpuwarden/daemon/page/";
    private static final String CHARTS = "/META-INF/resources/webjars/chart.js/4.5.1/dist/chart.umd.min.js";
    private static final String SCRIPT = "text/javascript; charset=utf-8";

    /** What there is: nothing else on the class path can be asked for. */
    private static final Map<String, File> FILES = Map.of(
            "/", new File(FOLDER + "index.html", "text/html; charset=utf-8"),
            "/page/style.css", new File(FOLDER + "style.css", "text/css; charset=utf-8"),
            "/page/main.js", new File(FOLDER + "main.js", SCRIPT),
            "/page/dom.js", new File(FOLDER + "dom.js", SCRIPT),
            "/page/node.js", new File(FOLDER + "node.js", SCRIPT),
            "/page/memory.js", new File(FOLDER + "memory.js", SCRIPT),
            "/page/events.js", new File(FOLDER + "events.js", SCRIPT),
            "/page/recording.js", new File(FOLDER + "recording.js", SCRIPT),
            "/page/chart.js", new File(CHARTS, SCRIPT));

    /** Nothing from elsewhere, nothing in frames: what events say can never become code. Charts size themselves by style. */
    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private record File(String resource, String type) {}

    @Override
    public Optional<Answer> answer(Request request) {
        File file = FILES.get(request.path());
        return file == null ? Optional.empty() : Optional.of(read(file));
    }

    private static Answer read(File file) {
        try (InputStream in = PageSite.class.getResourceAsStream(file.resource)) {
            if (in == null) {
                throw new IllegalStateException(file.resource + " is not on the class path");
            }
            return Answer.of(200, file.type, in.readAllBytes())
                    .with("Content-Security-Policy", POLICY)
                    .with("Cache-Control", "no-cache");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
