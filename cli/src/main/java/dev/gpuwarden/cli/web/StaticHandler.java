package dev.gpuwarden.cli.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A page and the files that it is made of, which lie beside a class. Read when asked for, since few ever ask. */
public final class StaticHandler implements HttpHandler {

    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final String STYLE = "text/css; charset=utf-8";
    private static final String PAGE = "text/html; charset=utf-8";

    /** Nothing from elsewhere, nothing in frames: what events say can never become code. Charts size themselves by style. */
    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private record File(Class<?> beside, String resource, String type) {}

    /** What there is: nothing else on the class path can be asked for. */
    private final Map<String, File> files = new LinkedHashMap<>();

    /** With what all pages have: their look, and small words for making elements. */
    public StaticHandler(Class<?> beside) {
        files.put("/", new File(beside, "index.html", PAGE));
        files.put("/page/style.css", new File(StaticHandler.class, "style.css", STYLE));
        files.put("/page/dom.js", new File(StaticHandler.class, "dom.js", SCRIPT));
    }

    /** `/page/NAME`, from the class's folder. */
    public StaticHandler script(Class<?> beside, String name) {
        return file("/page/" + name, beside, name);
    }

    /** @param resource relative to the class, or absolute with a slash */
    public StaticHandler file(String path, Class<?> beside, String resource) {
        files.put(path, new File(beside, resource, SCRIPT));
        return this;
    }

    @Override
    public boolean has(String path) {
        return files.containsKey(path);
    }

    @Override
    public HttpAnswer answer(Request request) {
        return Optional.ofNullable(files.get(request.path()))
                .map(StaticHandler::read)
                .orElse(HttpAnswer.NOT_FOUND);
    }

    private static HttpAnswer read(File file) {
        try (InputStream in = file.beside.getResourceAsStream(file.resource)) {
            if (in == null) {
                throw new IllegalStateException(file.resource + " is not on the class path");
            }
            return HttpAnswer.of(200, file.type, in.readAllBytes())
                    .with("Content-Security-Policy", POLICY)
                    .with("Cache-Control", "no-cache");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
