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
public record Answer(int status, String type, Map<String, String> headers, byte[] body, Optional<Flow> flow) {

    public static final String TEXT = "text/plain; charset=utf-8";
    public static final Answer NOT_FOUND = text(404, "not found\n");

    /** Writes for {@link #LONGEST_SECONDS} at most, since the server cuts off what takes longer; keeps its thread so long. */
    public interface Flow {
        void write(OutputStream out) throws IOException, InterruptedException;
    }

    public static final int LONGEST_SECONDS = 10;

    public static Answer text(int status, String body) {
        return of(status, TEXT, body.getBytes(StandardCharsets.UTF_8));
    }

    /** Of this moment: nobody may keep it. */
    public static Answer json(String body) {
        return of(200, "application/json", body.getBytes(StandardCharsets.UTF_8))
                .with("Cache-Control", "no-store");
    }

    public static Answer of(int status, String type, byte[] body) {
        return new Answer(status, type, Map.of(), body, Optional.empty());
    }

    public static Answer flowing(String type, Flow flow) {
        return new Answer(200, type, Map.of("Cache-Control", "no-store"), new byte[0], Optional.of(flow));
    }

    public Answer with(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new Answer(status, type, more, body, flow);
    }
}
