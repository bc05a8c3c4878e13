package dev.gpuwarden.cli.web;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What the server answers.
 *
 * @param headers beside Content-Type
 * @param body nobody may change it any more
 */
public record Answer(int status, String type, Map<String, String> headers, byte[] body) {

    public static final String TEXT = "text/plain; charset=utf-8";
    public static final Answer NOT_FOUND = text(404, "not found\n");

    public static Answer text(int status, String body) {
        return of(status, TEXT, body.getBytes(StandardCharsets.UTF_8));
    }

    /** Of this moment: nobody may keep it. */
    public static Answer json(String body) {
        return of(200, "application/json", body.getBytes(StandardCharsets.UTF_8))
                .with("Cache-Control", "no-store");
    }

    public static Answer of(int status, String type, byte[] body) {
        return new Answer(status, type, Map.of(), body);
    }

    public Answer with(String header, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(header, value);
        return new Answer(status, type, more, body);
    }
}
