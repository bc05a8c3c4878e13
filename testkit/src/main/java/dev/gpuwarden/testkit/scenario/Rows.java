package dev.gpuwarden.testkit.scenario;

import dev.gpuwarden.core.util.TsvResource;
import dev.gpuwarden.testkit.Resource;
import java.util.List;
import java.util.Map;

/** Reads TSV resources, and replaces the names in their texts. */
public final class Rows {

    private Rows() {}

    /** Returns the cells of each row of a TSV file; lines that begin with # are comments. */
    public static List<String[]> of(String file, int columns) {
        return TsvResource.read(Resource.class, file, columns, cells -> cells);
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
