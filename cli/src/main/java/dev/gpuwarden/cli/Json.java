package dev.gpuwarden.cli;

import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Writes a normal {@link Tree} as JSON, indented; lists of scalars stay on one line. */
final class Json {

    private final StringBuilder text = new StringBuilder();

    private Json() {}

    static String write(@Nullable Object tree) {
        Json json = new Json();
        json.add(Tree.normal(tree), 0);
        return json.text.toString();
    }

    private void add(@Nullable Object node, int depth) {
        if (node instanceof Map<?, ?> map) {
            addMap(map, depth);
        } else if (node instanceof List<?> list) {
            addList(list, depth);
        } else if (node instanceof String string) {
            text.append(quote(string));
        } else if (node instanceof Tree.Numeral numeral) {
            text.append(numeral.text());
        } else {
            text.append(node);
        }
    }

    private void addMap(Map<?, ?> map, int depth) {
        if (map.isEmpty()) {
            text.append("{}");
            return;
        }
        text.append('{');
        for (Iterator<? extends Map.Entry<?, ?>> i = map.entrySet().iterator(); i.hasNext(); ) {
            Map.Entry<?, ?> entry = i.next();
            newLine(depth + 1);
            text.append(quote((String) entry.getKey())).append(": ");
            add(entry.getValue(), depth + 1);
            text.append(i.hasNext() ? "," : "");
        }
        newLine(depth);
        text.append('}');
    }

    private void addList(List<?> list, int depth) {
        boolean scalars = list.stream().noneMatch(item -> item instanceof Map || item instanceof List);
        text.append('[');
        for (Iterator<?> i = list.iterator(); i.hasNext(); ) {
            Object item = i.next();
            if (!scalars) {
                newLine(depth + 1);
            }
            add(item, depth + 1);
            text.append(!i.hasNext() ? "" : scalars ? ", " : ",");
        }
        if (!scalars) {
            newLine(depth);
        }
        text.append(']');
    }

    private void newLine(int depth) {
        text.append('\n').append("  ".repeat(depth));
    }

    /** A JSON string, which is a double-quoted YAML string as well. What a terminal would act on or hide is escaped. */
    static String quote(String string) {
        StringBuilder quoted = new StringBuilder(string.length() + 2).append('"');
        string.codePoints().forEach(c -> {
            switch (c) {
                case '"' -> quoted.append("\\\"");
                case '\\' -> quoted.append("\\\\");
                case '\n' -> quoted.append("\\n");
                case '\r' -> quoted.append("\\r");
                case '\t' -> quoted.append("\\t");
                default -> {
                    if (Table.visible(c)) {
                        quoted.appendCodePoint(c);
                    } else {
                        for (char unit : Character.toChars(c)) {
                            quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) unit));
                        }
                    }
                }
            }
        });
        return quoted.append('"').toString();
    }
}
