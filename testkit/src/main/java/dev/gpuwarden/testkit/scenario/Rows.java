package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.testkit.Resource;
import java.util.List;
import java.util.Map;

/** Reads TSV resources, and replaces the names in their texts. */
public final class Rows {

    private Rows() {}

    /** Returns the cells of each row of a TSV file; lines that begin with # are comments. */
    public static List<String[]> of(String file) {
        return Resource.text(file)
                .lines()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split("\t", -1))
                .toList();
    }

    /** Replaces `{name}` by its value. */
    public static String fill(String text, Map<String, String> values) {
        String filled = text;
        for (Map.Entry<String, String> value : values.entrySet()) {
            filled = filled.replace("{" + value.getKey() + "}", value.getValue());
        }
        return filled;
    }
}
