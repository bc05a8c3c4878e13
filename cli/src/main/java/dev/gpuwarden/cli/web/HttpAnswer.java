package dev.gpuwarden.cli.web;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A response.
 *
 * @param headers in addition to Content-Type
 * @param body must not change after this
 * @param flow streams the body instead, piece by piece
 */
public record HttpAnswer(int status, String type, Map<String, String> headers, byte[] body, Optional<Flow> flow) {

    public static final String TEXT = "text/plain; charset=utf-8";
    public static final HttpAnswer NOT_FOUND = text(404, "not found\n");

    /**
     * A streamed body. It may write for {@link #LONGEST_SECONDS} at most, since the server then closes the connection.
     * It keeps its thread for that time.
     */
    public interface Flow {
        void write(OutputStream out) throws IOException, InterruptedException;
    }

    public static final int LONGEST_SECONDS = 10;

    public static HttpAnswer text(int status, String body) {
        return of(status, TEXT, body.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns JSON that no client may cache. */
    public static HttpAnswer json(String body) {
        return of(200, "application/json", body.getBytes(StandardCharsets.UTF_8))
                .with("Cache-Control", "no-store");
    }

    public static HttpAnswer of(int status, String type, byte[] body) {
        return new HttpAnswer(status, type, Map.of(), body, Optional.empty());
    }

    public static HttpAnswer flowing(String type, Flow flow) {
        return new HttpAnswer(200, type, Map.of("Cache-Control", "no-store"), new byte[0], Optional.of(flow));
    }

    public HttpAnswer with(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new HttpAnswer(status, type, more, body, flow);
    }
}
