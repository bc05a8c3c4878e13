package dev.gpuwarden.aggregator.remediation;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Placeholders in the object of a template. One is a whole text of the object, so a value from a fault fills one text or list and
 * can never change the structure.
 */
final class Placeholders {

    static final String NODE = "${node}";
    static final String NODE_UID = "${nodeUid}";
    static final String GPUS = "${gpus}";
    static final String ACTION = "${action}";
    static final String RESOURCE = "${resource}";
    static final String FAULT = "${fault}";

    static final Set<String> ALL = new TreeSet<>(Set.of(NODE, NODE_UID, GPUS, ACTION, RESOURCE, FAULT));

    private Placeholders() {}

    /** Returns a copy with the values in place of the placeholders. */
    static Map<String, Object> fill(Map<?, ?> object, Map<String, Object> values) {
        Map<String, Object> filled = new LinkedHashMap<>();
        object.forEach((key, value) -> filled.put(String.valueOf(key), value(value, values)));
        return filled;
    }

    private static Object value(Object value, Map<String, Object> values) {
        if (value instanceof Map<?, ?> map) {
            return fill(map, values);
        }
        if (value instanceof List<?> list) {
            List<Object> filled = new ArrayList<>(list.size());
            list.forEach(item -> filled.add(value(item, values)));
            return filled;
        }
        return value instanceof String text ? values.getOrDefault(text, text) : value;
    }

    /** Returns what is wrong with a text of a template; empty if nothing is. */
    static Optional<String> problem(String text) {
        if (ALL.contains(text)) {
            return Optional.empty();
        }
        Optional<String> part = ALL.stream().filter(text::contains).findFirst();
        if (part.isPresent()) {
            return Optional.of("expected " + part.get() + " as the whole text, found it as a part: give it to the"
                    + " container as an environment variable");
        }
        return text.matches("\\$\\{[A-Za-z]*}")
                ? Optional.of("expected one of " + String.join(", ", ALL) + ", found " + text)
                : Optional.empty();
    }
}
