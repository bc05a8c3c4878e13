package dev.gpuwarden.cli.web;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** A page with its files, which are resources beside a class. They are read for each request, since requests are few. */
public final class StaticHandler implements HttpHandler {

    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final String STYLE = "text/css; charset=utf-8";
    private static final String PAGE = "text/html; charset=utf-8";

    /**
     * A policy that permits no content from elsewhere and no frames, so that text of events can never run as code.
     * Charts set their size by style attributes.
     */
    private static final String POLICY =
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
                    + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private record File(Class<?> beside, String resource, String type) {}

    /** The served files; no other resource of the class path can be requested. */
    private final Map<String, File> files = new LinkedHashMap<>();

    /** Serves the style and the script that all pages share. */
    public StaticHandler(Class<?> beside) {
        files.put("/", new File(beside, "index.html", PAGE));
        files.put("/page/style.css", new File(StaticHandler.class, "style.css", STYLE));
        files.put("/page/dom.js", new File(StaticHandler.class, "dom.js", SCRIPT));
    }

    /** Adds `/page/NAME` from the class's folder. */
    public StaticHandler script(Class<?> beside, String name) {
        return file("/page/" + name, beside, name);
    }

    /**
     * Adds a file.
     *
     * @param resource relative to the class, or absolute with a slash
     */
    public StaticHandler file(String path, Class<?> beside, String resource) {
        files.put(path, new File(beside, resource, SCRIPT));
        return this;
    }

    /** Returns the style sheet of all pages, for a page that is written to a file. */
    public static String style() {
        return new String(bytes(new File(StaticHandler.class, "style.css", STYLE)), StandardCharsets.UTF_8);
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
        return HttpAnswer.of(200, file.type, bytes(file))
                .with("Content-Security-Policy", POLICY)
                .with("Cache-Control", "no-cache");
    }

    private static byte[] bytes(File file) {
        try (InputStream in = file.beside.getResourceAsStream(file.resource)) {
            if (in == null) {
                throw new IllegalStateException(file.resource + " is not on the class path");
            }
            return in.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
