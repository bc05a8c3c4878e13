package dev.gpuwarden.cli.web;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What the server answers.
 *
 * @param headers beside Content-Type
 * @param body nobody may change it any more
 * @param flow what comes instead of the body, bit by bit
 */
public record HttpAnswer(int status, String type, Map<String, String> headers, byte[] body, Optional<Flow> flow) {

    public static final String TEXT = "text/plain; charset=utf-8";
    public static final HttpAnswer NOT_FOUND = text(404, "not found\n");

    /** Writes for {@link #LONGEST_SECONDS} at most, since the server cuts off what takes longer; keeps its thread so long. */
    public interface Flow {
        void write(OutputStream out) throws IOException, InterruptedException;
    }

    public static final int LONGEST_SECONDS = 10;

    public static HttpAnswer text(int status, String body) {
        return of(status, TEXT, body.getBytes(StandardCharsets.UTF_8));
    }

    /** Of this moment: nobody may keep it. */
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
