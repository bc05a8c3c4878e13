package dev.gpuwarden.checks.access;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Fields of JSON between the daemon and its child processes. An absent field, or one of another type, is an error. */
final class JsonFields {

    private JsonFields() {}

    static Map<?, ?> object(Map<?, ?> json, String name) throws IOException {
        if (json.get(name) instanceof Map<?, ?> map) {
            return map;
        }
        throw new IOException("expected an object in '" + name + "'");
    }

    static List<?> list(Map<?, ?> json, String name) throws IOException {
        if (json.get(name) instanceof List<?> list) {
            return list;
        }
        throw new IOException("expected a list in '" + name + "'");
    }

    static String text(Map<?, ?> json, String name) throws IOException {
        if (json.get(name) instanceof String text) {
            return text;
        }
        throw new IOException("expected a text in '" + name + "'");
    }

    static double number(Map<?, ?> json, String name) throws IOException {
        if (json.get(name) instanceof Number number) {
            return number.doubleValue();
        }
        throw new IOException("expected a number in '" + name + "'");
    }
}
