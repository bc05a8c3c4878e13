package dev.gpuwarden.cli;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes a normal {@link Tree} as YAML that readers of version 1.1 and 1.2 understand alike: strings that one of them would
 * take for something else (`yes`, `1:30`, `0o7`) are quoted.
 */
final class Yaml {

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_/][A-Za-z0-9_./+-]*( [A-Za-z0-9_./+-]+)*");
    private static final Set<String> WORDS = Set.of("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan");

    private final StringBuilder text = new StringBuilder();

    private Yaml() {}

    static String write(@Nullable Object tree) {
        Yaml yaml = new Yaml();
        Object normal = Tree.normal(tree);
        yaml.add(normal, 0);
        return yaml.text.toString().stripLeading() + (yaml.text.toString().endsWith("\n") ? "" : "\n");
    }

    /** Appends a node behind a key or a dash; what takes more than the line starts on a new one. */
    private void add(@Nullable Object node, int depth) {
        if (node instanceof Map<?, ?> map && !map.isEmpty()) {
            text.append('\n');
            addMap(map, depth, false);
        } else if (node instanceof List<?> list && !list.isEmpty()) {
            text.append('\n');
            addList(list, depth);
        } else {
            text.append(' ').append(scalar(node)).append('\n');
        }
    }

    private void addMap(Map<?, ?> map, int depth, boolean onLineAlready) {
        boolean indented = onLineAlready;
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            text.append(indented ? "" : "  ".repeat(depth))
                    .append(scalar(entry.getKey()))
                    .append(':');
            indented = false;
            add(entry.getValue(), depth + 1);
        }
    }

    private void addList(List<?> list, int depth) {
        for (Object item : list) {
            text.append("  ".repeat(depth)).append('-');
            if (item instanceof Map<?, ?> map && !map.isEmpty()) {
                text.append(' ');
                addMap(map, depth + 1, true);
            } else {
                add(item, depth + 1);
            }
        }
    }

    private static String scalar(@Nullable Object node) {
        if (node instanceof String string) {
            boolean plain = PLAIN.matcher(string).matches() && !WORDS.contains(string.toLowerCase(Locale.ROOT));
            return plain ? string : Json.quote(string);
        }
        if (node instanceof Tree.Numeral numeral) {
            return numeral.text();
        }
        if (node instanceof Map) {
            return "{}";
        }
        return node instanceof List ? "[]" : String.valueOf(node);
    }
}
